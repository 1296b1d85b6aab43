package tree

import (
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A handle is opened with a name relative to another handle (NtCreateFile), and
// with FILE_OPEN_REPARSE_POINT: nothing is looked up by path, no link followed,
// and names are taken as they are, without the rules of Win32 for trailing dots
// and devices.
type handle windows.Handle

// component refuses ":" too, which would open a stream of another file.
func component(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\:\x00")
}

const (
	readAttributes  = windows.FILE_READ_ATTRIBUTES
	writeAttributes = windows.FILE_READ_ATTRIBUTES | windows.FILE_WRITE_ATTRIBUTES
	shareAll        = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

	// followData opens the data behind a reparse point (deduplicated or packed
	// files), not the point. Only for what has been looked at and is no link.
	followData = 1 << 31
)

// openAt opens name in dir; the empty name opens dir itself once more, with
// other rights.
func openAt(dir handle, name string, access, disposition, options uint32) (handle, error) {
	object, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	attributes := windows.OBJECT_ATTRIBUTES{
		RootDirectory: windows.Handle(dir),
		ObjectName:    object,
		Attributes:    windows.OBJ_CASE_INSENSITIVE,
	}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	if options&followData == 0 {
		options |= windows.FILE_OPEN_REPARSE_POINT
	}
	options = options&^followData | windows.FILE_SYNCHRONOUS_IO_NONALERT | windows.FILE_OPEN_FOR_BACKUP_INTENT
	var h windows.Handle
	err = windows.NtCreateFile(&h, access|windows.SYNCHRONIZE, &attributes, &windows.IO_STATUS_BLOCK{}, nil,
		windows.FILE_ATTRIBUTE_NORMAL, shareAll, disposition, options, 0, 0)
	return handle(h), osError(err)
}

// osError makes an NT status what the os package knows.
func osError(err error) error {
	status, ok := err.(windows.NTStatus)
	switch {
	case !ok:
		return err
	case status == windows.STATUS_OBJECT_NAME_INVALID:
		return ErrName
	}
	return status.Errno()
}

func statPath(path string) (Info, error) {
	h, err := openRoot(path)
	if err != nil {
		return Info{}, err
	}
	defer closeHandle(h)
	return statHandle(h)
}

func openRoot(path string) (handle, error) {
	f, err := os.Open(path) // knows long paths, follows links
	if err != nil {
		return 0, underlying(err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return 0, underlying(err)
	} else if !st.IsDir() {
		return 0, ErrNotFolder
	}
	return duplicate(handle(f.Fd()))
}

func underlying(err error) error {
	if named, ok := err.(*os.PathError); ok {
		return named.Err
	}
	return err
}

func openFolder(dir handle, name string) (handle, error) {
	const access = windows.FILE_LIST_DIRECTORY | windows.FILE_TRAVERSE | readAttributes
	h, err := openAt(dir, name, access, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
	if err == windows.ERROR_DIRECTORY {
		return 0, ErrNotFolder
	}
	if err != nil {
		return 0, err
	}
	in, err := statHandle(h)
	if err == nil && in.Kind != Folder {
		err = ErrNotFolder
	}
	if err != nil {
		closeHandle(h)
		return 0, err
	}
	return h, nil
}

func openFile(dir handle, name string) (handle, Info, error) {
	h, err := openAt(dir, name, windows.FILE_GENERIC_READ, windows.FILE_OPEN, 0)
	if err != nil {
		return 0, Info{}, err
	}
	in, err := statHandle(h)
	if err == nil && in.Kind != File {
		err = ErrNotFile
	}
	if err == nil && isReparsePoint(h) {
		var data handle
		data, err = openAt(h, "", windows.FILE_GENERIC_READ, windows.FILE_OPEN, followData)
		if err == nil {
			closeHandle(h)
			h = data
		}
	}
	if err != nil {
		closeHandle(h)
		return 0, Info{}, err
	}
	return h, in, nil
}

func createFile(dir handle, name string) (handle, error) {
	const access = windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE
	return openAt(dir, name, access, windows.FILE_CREATE, windows.FILE_NON_DIRECTORY_FILE)
}

func closeHandle(h handle) error { return windows.CloseHandle(windows.Handle(h)) }

func duplicate(h handle) (handle, error) {
	self := windows.CurrentProcess()
	var twin windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(h), self, &twin, 0, false, windows.DUPLICATE_SAME_ACCESS)
	return handle(twin), err
}

func mountOf(h handle) (uint64, error) {
	in, err := statHandle(h)
	return in.Dev, err
}

func mkdirAt(dir handle, name string) error {
	h, err := openAt(dir, name, readAttributes, windows.FILE_CREATE, windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return err
	}
	return closeHandle(h)
}

var listBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// listNames opens the folder anew, to begin at the beginning: a handle whose scan
// is restarted may show again what it found before (wine does). It ends at an error
// of take.
func listNames(h handle, take func([]string) error) error {
	own, err := openAt(h, "", windows.FILE_LIST_DIRECTORY|readAttributes, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return err
	}
	defer closeHandle(own)
	buf := listBuffers.Get().(*[64 << 10]byte)
	defer listBuffers.Put(buf)
	for first := true; ; first = false {
		err := windows.GetFileInformationByHandleEx(windows.Handle(own), windows.FileFullDirectoryInfo, &buf[0], uint32(len(buf)))
		switch {
		case err == windows.ERROR_NO_MORE_FILES,
			err == windows.ERROR_FILE_NOT_FOUND && first: // an empty drive
			return nil
		case err != nil:
			return err
		}
		if err := take(namesIn(buf[:])); err != nil {
			return err
		}
	}
}

// namesIn takes the names out of a chain of FILE_FULL_DIR_INFO (winbase.h).
func namesIn(buf []byte) (names []string) {
	for {
		entry := (*struct {
			next, index uint32
			_           [6]int64 // times and sizes
			attributes  uint32
			length      uint32 // of the name in bytes
			_           uint32
			name        [1]uint16
		})(unsafe.Pointer(&buf[0]))
		name := windows.UTF16ToString(unsafe.Slice(&entry.name[0], entry.length/2))
		if name != "." && name != ".." {
			names = append(names, name)
		}
		if entry.next == 0 {
			return names
		}
		buf = buf[entry.next:]
	}
}
