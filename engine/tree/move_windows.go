package tree

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

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
