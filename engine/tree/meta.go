package tree

import (
	"io/fs"
	"os"
)

// Lost says which metadata could not be kept: counted and told once per run,
// never a data error.
type Lost struct{ Owner, Xattr, Mode, Times bool }

// SetFile gives a staged file the metadata of its source: owner, xattrs and ACLs
// (capabilities last), mode, times last. src is the open source file. The error
// is for what makes the copy wrong (I/O error); refusals (EPERM, ENOTSUP) are
// Lost. A call is made only where it changes something, so it may be used to
// mend a copy too. The order matters: a change of owner clears setuid and
// capabilities, an ACL changes the mode, a mode without write forbids xattrs,
// and everything changes times.
//
// Where the owner is lost, setuid and setgid are left out with it: they would
// lend the rights of another user than the one who gave them. Labels of the
// system's policy (SELinux, EVM) and access lists of NFSv4, SMB and macOS are
// neither copied nor removed.
func SetFile(dst, src *os.File, in Info) (Lost, error) {
	lost, err := setMeta(handle(dst.Fd()), handle(src.Fd()), in)
	return lost, pathError("set metadata of", dst.Name(), err)
}

// SetFolder gives folder dst the metadata of folder src, in the same order.
func SetFolder(dst, src *Dir, in Info) (Lost, error) {
	lost, err := setMeta(dst.h, src.h, in)
	return lost, pathError("set metadata of", dst.name, err)
}

// SetLink gives the link name in d owner and times; a link has no mode, and no
// xattrs that a user could set.
func (d *Dir) SetLink(name string, in Info) (Lost, error) {
	if !component(name) {
		return Lost{}, invalid("set metadata of", name)
	}
	lost, err := setLinkMeta(d.h, name, in)
	return lost, pathError("set metadata of", name, err)
}

// SameMeta tells whether dst has the owner, mode and mtime (within grain) that
// SetFile, SetFolder or SetLink would give it. Fields that this volume or these
// rights cannot hold do not count.
func SameMeta(src, dst Info, c Caps) bool {
	if c.Owner && (src.UID != dst.UID || src.GID != dst.GID) {
		return false
	}
	if c.Modes && src.Kind != Link && wantedMode(src, dst.UID, dst.GID) != dst.Mode {
		return false
	}
	return sameTime(src.MTime, dst.MTime, c.Grain) && src.Attr == dst.Attr
}

// wantedMode is the mode for a copy that belongs to uid and gid.
func wantedMode(src Info, uid, gid uint32) uint32 {
	mode := src.Mode
	if uid != src.UID {
		mode &^= setUID
	}
	if gid != src.GID {
		mode &^= setGID
	}
	return mode
}

const (
	setUID = 0o4000
	setGID = 0o2000
)

// sameTime compares times of which a volume keeps whole grains. Some round up
// and some down, so any distance below one grain is the same.
func sameTime(a, b, grain int64) bool {
	if a == b {
		return true
	}
	distance := a - b
	if distance < 0 {
		distance = -distance
	}
	return distance > 0 && distance < grain
}

// SameXattrs compares the xattrs (and so the ACLs) of two open files or folders,
// but for those that SetFile does not copy.
func SameXattrs(a, b *os.File) (bool, error) {
	same, err := sameXattrs(handle(a.Fd()), handle(b.Fd()))
	if err != nil {
		return false, &fs.PathError{Op: "compare xattrs of", Path: a.Name(), Err: err}
	}
	return same, nil
}
