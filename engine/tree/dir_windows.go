package tree

import (
	"os"
	"slices"
	"strings"
	"sync"
	"time"
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
	if status, ok := err.(windows.NTStatus); ok {
		return status.Errno()
	}
	return err
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

// removeAt looks at what it holds: links to folders are folders to Windows.
func removeAt(dir handle, name string) error {
	return eraseAt(dir, name, func(k Kind) error {
		if k == Folder {
			return ErrNotFile
		}
		return nil
	})
}

func rmdirAt(dir handle, name string) error {
	return eraseAt(dir, name, func(k Kind) error {
		if k != Folder {
			return ErrNotFolder
		}
		return nil
	})
}

func eraseAt(dir handle, name string, check func(Kind) error) error {
	return patiently(func() error {
		h, err := openAt(dir, name, windows.DELETE|readAttributes, windows.FILE_OPEN, 0)
		if err != nil {
			return err
		}
		defer closeHandle(h)
		in, err := statHandle(h)
		if err == nil {
			err = check(in.Kind)
		}
		if err != nil {
			return err
		}
		return erase(h)
	})
}

// patiently tries again what virus scanners and indexers hinder for a moment:
// they hold new files open without sharing them.
func patiently(do func() error) error {
	const limit = 2 * time.Second // what renameio and Go's own tests found enough
	start, wait := time.Now(), 5*time.Millisecond
	for {
		err := do()
		switch err {
		case windows.ERROR_ACCESS_DENIED, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION:
		default:
			return err
		}
		if time.Since(start) > limit {
			return err
		}
		time.Sleep(wait)
		wait = min(2*wait, 200*time.Millisecond)
	}
}

func linkAt(dir handle, name string, to handle, toName string) error {
	h, err := openAt(dir, name, writeAttributes, windows.FILE_OPEN, windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return err
	}
	defer closeHandle(h)
	return osError(place(h, linkInformation, 0, to, toName))
}

func renameAt(dir handle, name string, to handle, toName string) error {
	const replace = windows.FILE_RENAME_REPLACE_IF_EXISTS
	return patiently(func() error { return rename(dir, name, to, toName, replace) })
}

func renameNewAt(dir handle, name string, to handle, toName string) error {
	return patiently(func() error { return rename(dir, name, to, toName, 0) })
}

// rename asks for POSIX semantics, by which an open or read-only file gives way
// (Windows 10 on NTFS), then for the old ones.
func rename(dir handle, name string, to handle, toName string, flags uint32) error {
	h, err := openAt(dir, name, windows.DELETE|readAttributes, windows.FILE_OPEN, 0)
	if err != nil {
		return err
	}
	defer closeHandle(h)
	posix := flags | windows.FILE_RENAME_POSIX_SEMANTICS | windows.FILE_RENAME_IGNORE_READONLY_ATTRIBUTE
	err = place(h, renameInformationEx, posix, to, toName)
	if lacksClass(err) {
		err = place(h, renameInformation, flags, to, toName)
	}
	return osError(err)
}

// Classes of NtSetInformationFile, see FILE_INFORMATION_CLASS in wdm.h.
const (
	renameInformation        = 10
	linkInformation          = 11
	dispositionInformation   = 13
	dispositionInformationEx = 64
	renameInformationEx      = 65
)

// placement is FILE_RENAME_INFORMATION and FILE_LINK_INFORMATION of ntifs.h; the
// older classes have a byte, ReplaceIfExists, in place of flags.
type placement struct {
	flags  uint32
	dir    windows.Handle
	length uint32 // of name in bytes
	name   [256]uint16
}

func place(h handle, class uint32, flags uint32, dir handle, name string) error {
	units, err := windows.UTF16FromString(name)
	if err != nil {
		return err
	}
	p := placement{flags: flags, dir: windows.Handle(dir), length: uint32(len(units)-1) * 2}
	if copy(p.name[:], units) < len(units) {
		return windows.ERROR_FILENAME_EXCED_RANGE
	}
	return setInformation(h, class, unsafe.Pointer(&p), unsafe.Sizeof(p))
}

func setInformation(h handle, class uint32, info unsafe.Pointer, size uintptr) error {
	return windows.NtSetInformationFile(windows.Handle(h), &windows.IO_STATUS_BLOCK{}, (*byte)(info), uint32(size), class)
}

// lacksClass tells that this Windows or file system knows no POSIX semantics.
func lacksClass(err error) bool {
	switch err {
	case windows.STATUS_INVALID_INFO_CLASS, windows.STATUS_INVALID_PARAMETER,
		windows.STATUS_NOT_SUPPORTED, windows.STATUS_NOT_IMPLEMENTED:
		return true
	}
	return false
}

// erase removes what h is open on, read-only or not.
func erase(h handle) error {
	flags := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS |
		windows.FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE)
	err := setInformation(h, dispositionInformationEx, unsafe.Pointer(&flags), unsafe.Sizeof(flags))
	if !lacksClass(err) {
		return osError(err)
	}
	if err := clearReadOnly(h); err != nil {
		return err
	}
	remove := byte(1)
	return osError(setInformation(h, dispositionInformation, unsafe.Pointer(&remove), unsafe.Sizeof(remove)))
}

var listBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// listNames opens the folder anew, to begin at the beginning: a handle whose scan
// is restarted may show again what it found before (wine does).
func listNames(h handle) ([]string, error) {
	own, err := openAt(h, "", windows.FILE_LIST_DIRECTORY|readAttributes, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	defer closeHandle(own)
	buf := listBuffers.Get().(*[64 << 10]byte)
	defer listBuffers.Put(buf)
	var names []string
	for {
		err := windows.GetFileInformationByHandleEx(windows.Handle(own), windows.FileFullDirectoryInfo, &buf[0], uint32(len(buf)))
		switch {
		case err == windows.ERROR_NO_MORE_FILES,
			err == windows.ERROR_FILE_NOT_FOUND && names == nil: // an empty drive
			slices.Sort(names)
			return slices.Compact(names), nil
		case err != nil:
			return nil, err
		}
		names = appendNames(names, buf[:])
	}
}

// appendNames takes the names out of a chain of FILE_FULL_DIR_INFO (winbase.h).
func appendNames(names []string, buf []byte) []string {
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
