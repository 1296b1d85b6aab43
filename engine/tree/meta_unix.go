//go:build linux || darwin

package tree

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// setMeta follows the order of SetFile.
func setMeta(dst, src handle, in Info) (lost Lost, err error) {
	was, err := statHandle(dst)
	if err != nil {
		return lost, err
	}
	now := was
	if lost.Owner, err = setOwner(dst, in, &now); err != nil {
		return lost, err
	}
	changed, lostXattr, err := copyXattrs(dst, src, now)
	if lost.Xattr = lostXattr; err != nil {
		return lost, err
	}
	if want := wantedMode(in, now.UID, now.GID); changed || now != was || want != now.Mode {
		err = again(func() error { return unix.Fchmod(int(dst), want) })
		if lost.Mode, err = refused(err); err != nil {
			return lost, err
		}
	}
	if in.MTime != was.MTime {
		lost.Times, err = refused(again(func() error { return setTime(dst, in.MTime) }))
	}
	return lost, err
}

// setOwner changes what differs and tells in now what came of it. Someone who
// may not give files away may still have the right to set one of his groups.
func setOwner(dst handle, in Info, now *Info) (lost bool, err error) {
	if in.UID == now.UID && in.GID == now.GID {
		return false, nil
	}
	err = again(func() error { return unix.Fchown(int(dst), int(in.UID), int(in.GID)) })
	if err == nil {
		now.UID, now.GID = in.UID, in.GID
		return false, nil
	}
	if lost, err = refused(err); err != nil || in.GID == now.GID {
		return lost, err
	}
	err = again(func() error { return unix.Fchown(int(dst), -1, int(in.GID)) })
	if err == nil {
		now.GID = in.GID
	}
	stillLost, err := refused(err)
	return stillLost || now.UID != in.UID, err
}

func setLinkMeta(dir handle, name string, in Info) (lost Lost, err error) {
	now, err := statAt(dir, name)
	if err != nil {
		return lost, err
	}
	if now.Kind != Link {
		return lost, ErrUnsupported
	}
	if in.UID != now.UID || in.GID != now.GID {
		err = again(func() error {
			return unix.Fchownat(int(dir), name, int(in.UID), int(in.GID), unix.AT_SYMLINK_NOFOLLOW)
		})
		if lost.Owner, err = refused(err); err != nil {
			return lost, err
		}
	}
	if in.MTime != now.MTime {
		times := bothTimes(in.MTime)
		err = again(func() error { return unix.UtimesNanoAt(int(dir), name, times[:], unix.AT_SYMLINK_NOFOLLOW) })
		lost.Times, err = refused(err)
	}
	return lost, err
}

func bothTimes(t int64) [2]unix.Timespec {
	return [2]unix.Timespec{unix.NsecToTimespec(t), unix.NsecToTimespec(t)}
}

// refused sorts errors of metadata: what rights, file system or range forbid is
// lost; anything else (EIO, ENOSPC, EROFS ...) stays an error.
func refused(err error) (bool, error) {
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errors.ErrUnsupported):
		return true, nil
	case err == unix.EINVAL, err == unix.ERANGE, err == unix.E2BIG, err == unix.EOVERFLOW:
		return true, nil
	}
	return false, err
}
