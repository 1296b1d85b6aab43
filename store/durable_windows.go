package store

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// rename moves a file over another one, durably. Virus scanners hold new files
// for a moment, so refusals are tried for 2 s.
func rename(from, to string) error {
	src, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	dst, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err = windows.MoveFileEx(src, dst, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		held := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !held || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// unlock gives back the lock that bbolt took on its file. Windows does that when
// the handle is closed.
func unlock(*os.File) error { return nil }
