package tree

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// setTime is futimens(3). The access time is set along with the other: libfuse 2,
// by which exFAT and others are mounted, does nothing and says nothing when only
// one of the two is given (fuse_lib_setattr).
func setTime(h handle, mtime int64) error {
	times := bothTimes(mtime)
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(h), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

const errNoXattr = unix.ENODATA

// systemXattrs are given by the system's policy to each file anew, or hold for
// one inode only (evm), so a copy of them would be wrong.
var systemXattrs = []string{"security.selinux", "security.evm"}
