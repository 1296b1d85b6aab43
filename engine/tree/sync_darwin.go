package tree

import "golang.org/x/sys/unix"

const readOnlyFlag = unix.MNT_RDONLY

// syncFileSystem is never asked for: no volume here has GroupSync.
func syncFileSystem(handle) error { return unix.ENOTSUP }

// syncHandle flushes the device too, as os.File.Sync does: fsync alone leaves
// data in its cache, see fsync(2) of macOS.
func syncHandle(h handle) error {
	return again(func() error {
		_, err := unix.FcntlInt(uintptr(h), unix.F_FULLFSYNC, 0)
		return err
	})
}
