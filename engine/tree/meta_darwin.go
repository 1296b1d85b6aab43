package tree

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// setTime uses fsetattrlist(2): futimes has microseconds only, and macOS has no
// futimens that Go could call without cgo.
func setTime(h handle, mtime int64) error {
	list := unix.Attrlist{Bitmapcount: unix.ATTR_BIT_MAP_COUNT, Commonattr: unix.ATTR_CMN_MODTIME}
	time := unix.NsecToTimespec(mtime)
	//lint:ignore SA1019 x/sys has no wrapper for it, and another way would need cgo
	_, _, errno := unix.Syscall6(unix.SYS_FSETATTRLIST, uintptr(h), uintptr(unsafe.Pointer(&list)),
		uintptr(unsafe.Pointer(&time)), unsafe.Sizeof(time), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

const errNoXattr = unix.ENOATTR

// isSystemXattr tells xattrs that the system alone may set.
func isSystemXattr(name string) bool {
	return name == "com.apple.provenance" || name == "com.apple.macl"
}
