//go:build linux || darwin

package tree

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// copyXattrs gives dst the xattrs of src, ACLs among them, and takes away what src
// has not. changed: the mode may have changed with them.
func copyXattrs(dst, src handle, now Info) (changed, lost bool, err error) {
	want, err := listXattrs(src)
	if err != nil {
		return false, false, err
	}
	have, err := listXattrs(dst)
	if err != nil || len(want) == 0 && len(have) == 0 {
		return false, false, err
	}
	for _, name := range have {
		if slices.Contains(want, name) {
			continue
		}
		no, err := refused(changeXattr(dst, now, func() error { return unix.Fremovexattr(int(dst), name) }))
		if err != nil {
			return changed, lost, err
		}
		changed, lost = true, lost || no
	}
	for _, name := range want {
		did, no, err := copyXattr(dst, src, name, now)
		if err != nil {
			return changed, lost, err
		}
		changed, lost = changed || did, lost || no
	}
	return changed, lost, nil
}

func copyXattr(dst, src handle, name string, now Info) (did, lost bool, err error) {
	value, err := readXattr(src, name)
	if err == errNoXattr {
		return false, false, nil // went away meanwhile: as if it had never been
	}
	if lost, err := refused(err); lost || err != nil {
		return false, lost, err
	}
	if old, err := readXattr(dst, name); err == nil && bytes.Equal(old, value) {
		return false, false, nil
	}
	err = changeXattr(dst, now, func() error { return unix.Fsetxattr(int(dst), name, value, 0) })
	lost, err = refused(err)
	if err == unix.ENOSPC { // ext4: more than fits beside the inode, not a full disk
		lost, err = true, nil
	}
	return true, lost, err
}

// changeXattr tries once more with the right to write: a user's xattrs go by the
// mode of the file, even for its owner, and copies of read-only files are ours to
// mend. The caller sets the mode after it.
func changeXattr(h handle, now Info, change func() error) error {
	err := again(change)
	if err != unix.EACCES && err != unix.EPERM || now.Mode&0o200 != 0 {
		return err
	}
	if unix.Fchmod(int(h), now.Mode|0o600) != nil {
		return err
	}
	return again(change)
}

func sameXattrs(a, b handle) (bool, error) {
	ours, err := listXattrs(a)
	if err != nil {
		return false, err
	}
	theirs, err := listXattrs(b)
	if err != nil || len(ours) != len(theirs) {
		return false, err
	}
	for _, name := range ours {
		if !slices.Contains(theirs, name) {
			return false, nil
		}
		x, err := readXattr(a, name)
		if err != nil {
			return false, err
		}
		y, err := readXattr(b, name)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(x, y) {
			return false, nil
		}
	}
	return true, nil
}

// listXattrs names what is to be kept, capabilities last: everything that is
// written after them clears them. A file system without xattrs has none.
func listXattrs(h handle) ([]string, error) {
	var small [512]byte
	buf := small[:]
	for {
		n := 0
		err := again(func() (err error) {
			n, err = unix.Flistxattr(int(h), buf)
			return err
		})
		switch {
		case err == nil:
			return xattrNames(string(buf[:n])), nil
		case err == unix.ERANGE:
			buf = make([]byte, 4*len(buf))
		case errors.Is(err, errors.ErrUnsupported), err == unix.EPERM:
			return nil, nil
		default:
			return nil, err
		}
	}
}

func xattrNames(list string) (names []string) {
	const capability = "security.capability"
	hasCapability := false
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		switch {
		case name == capability:
			hasCapability = true
		case name != "" && !isSystemXattr(name):
			names = append(names, name)
		}
	}
	if hasCapability {
		names = append(names, capability)
	}
	return names
}

func readXattr(h handle, name string) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n := 0
		err := again(func() (err error) {
			n, err = unix.Fgetxattr(int(h), name, buf)
			return err
		})
		if err == nil {
			return buf[:n], nil
		}
		if err != unix.ERANGE {
			return nil, err
		}
	}
}
