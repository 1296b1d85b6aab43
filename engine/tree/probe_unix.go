//go:build linux || darwin

package tree

import "golang.org/x/sys/unix"

// probeMeta ends with the owner, after which the file may not be ours any more.
func probeMeta(h handle) (modes, xattrs, owner bool) {
	modes = keepsMode(h, 0o640) && keepsMode(h, 0o701)

	const name = "user.hourhand.probe"
	if unix.Fsetxattr(int(h), name, []byte("x"), 0) == nil {
		value, err := readXattr(h, name)
		xattrs = err == nil && string(value) == "x"
	}

	in, err := statHandle(h)
	if err == nil && unix.Fchown(int(h), int(in.UID)+1, int(in.GID)+1) == nil {
		now, err := statHandle(h)
		owner = err == nil && now.UID == in.UID+1 && now.GID == in.GID+1
	}
	return modes, xattrs, owner
}

func keepsMode(h handle, mode uint32) bool {
	if unix.Fchmod(int(h), mode) != nil {
		return false
	}
	in, err := statHandle(h)
	return err == nil && in.Mode == mode
}
