//go:build linux || darwin

package tree

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func reopen(h handle) (handle, error) {
	return openAt(int(h), ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

func syncFile(f *os.File) error { return f.Sync() }

// writable fails where the volume has become read-only.
func writable(h handle) error {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(int(h), &st) }); err != nil {
		return err
	}
	if st.Flags&readOnlyFlag != 0 {
		return unix.EROFS
	}
	return nil
}

func cannotSync(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}
