package engine

import (
	"errors"

	"golang.org/x/sys/windows"
)

// sharing tells Windows' errors for a file that another program holds.
func sharing(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// diskFull tells Windows' codes for a full disk or quota.
func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// driveGone tells Windows' codes for a drive that was pulled or write-protected.
func driveGone(err error) bool {
	return errors.Is(err, windows.ERROR_WRITE_PROTECT) || errors.Is(err, windows.ERROR_NOT_READY) || errors.Is(err, windows.ERROR_DEVICE_NOT_CONNECTED) || errors.Is(err, windows.ERROR_DEV_NOT_EXIST)
}
