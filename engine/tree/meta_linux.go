package tree

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// setTime is futimens(3), which leaves the access time alone.
func setTime(h handle, mtime int64) error {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(mtime)}
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(h), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

const omitTime = unix.UTIME_OMIT

const errNoXattr = unix.ENODATA

// systemXattrs are given by the system's policy to each file anew, or hold for
// one inode only (evm), so a copy of them would be wrong.
var systemXattrs = []string{"security.selinux", "security.evm"}
