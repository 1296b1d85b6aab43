package tree

import (
	"errors"
	"io/fs"
	"os"

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

func forSync(h handle) (handle, error) { return reopen(h) }

// syncFile makes do with a file that was opened for reading: a flush needs the
// right to write, which a read-only file gives to nobody.
func syncFile(f *os.File) error {
	err := f.Sync()
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	own, err := openToWrite(handle(f.Fd()))
	if err != nil {
		return pathError("sync", f.Name(), err)
	}
	defer closeHandle(own)
	return pathError("sync", f.Name(), windows.FlushFileBuffers(windows.Handle(own)))
}

func openToWrite(h handle) (handle, error) {
	b, err := basicInfo(h)
	if err != nil {
		return 0, err
	}
	if err := clearReadOnly(h); err != nil {
		return 0, err
	}
	own, err := openAt(h, "", windows.FILE_WRITE_DATA|writeAttributes, windows.FILE_OPEN, windows.FILE_NON_DIRECTORY_FILE)
	if err != nil || b.attributes&windows.FILE_ATTRIBUTE_READONLY == 0 {
		return own, err
	}
	if err := setBasic(own, basic{attributes: b.attributes}); err != nil {
		closeHandle(own)
		return 0, err
	}
	return own, nil
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
