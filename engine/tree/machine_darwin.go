package tree

import (
	"encoding/hex"
	"unsafe"

	"golang.org/x/sys/unix"
)

// background lowers CPU and I/O together, see setpriority(2) of macOS.
func background() { _ = unix.Setpriority(unix.PRIO_DARWIN_THREAD, 0, unix.PRIO_DARWIN_BG) }

// machineID is that of gethostuuid(2).
func machineID() string {
	var id [16]byte
	var wait unix.Timespec
	//lint:ignore SA1019 x/sys has no wrapper for it, and another way would need cgo
	_, _, errno := unix.Syscall(unix.SYS_GETHOSTUUID, uintptr(unsafe.Pointer(&id)), uintptr(unsafe.Pointer(&wait)), 0)
	if errno != 0 {
		return ""
	}
	return hex.EncodeToString(id[:])
}
