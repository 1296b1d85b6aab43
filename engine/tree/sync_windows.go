package tree

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// reopen asks for the right to add files, which a flush of a folder needs.
func reopen(h handle) (handle, error) {
	const access = windows.FILE_LIST_DIRECTORY | windows.FILE_WRITE_DATA | readAttributes
	own, err := openAt(h, "", access, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
	if errors.Is(err, fs.ErrPermission) {
		return duplicate(h)
	}
	return own, err
}

// syncFileSystem is never asked for: no volume here has GroupSync.
func syncFileSystem(handle) error { return windows.ERROR_NOT_SUPPORTED }

func syncHandle(h handle) error {
	own, err := reopen(h)
	if err != nil {
		return err
	}
	defer closeHandle(own)
	return windows.FlushFileBuffers(windows.Handle(own))
}

func writable(h handle) error {
	_, flags, _, err := volumeInformation(h)
	if err == nil && flags&windows.FILE_READ_ONLY_VOLUME != 0 {
		err = windows.ERROR_WRITE_PROTECT
	}
	return err
}

func cannotSync(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) ||
		errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}
