package tree

import (
	"strings"
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

// isSystemXattr tells xattrs that are not the user's: labels that the system's
// policy gives to each file anew, signatures that hold for one inode only (evm),
// and what drivers show of their own (system.nfs4_acl, system.ntfs_attrib ...).
func isSystemXattr(name string) bool {
	return name == "security.selinux" || name == "security.evm" ||
		strings.HasPrefix(name, "system.") && !strings.HasPrefix(name, "system.posix_acl_")
}
