// Package tree reads and writes folder trees through opened folders, never
// through paths: no link below a root is ever followed, so nobody can redirect
// a copy or a removal by swapping a folder for a link. It also holds what
// differs from platform to platform: metadata, volumes, durability, reads past
// the cache.
//
// Start with Open, which gives a Dir; everything below it is reached by Dir.Sub
// and single names. Volume and Probe tell what the file system is and can hold,
// SetFile and its like give a copy the metadata of its source, Syncer makes
// writes durable, ReadBack proves them.
//
// The shared files (dir.go, meta.go, volume.go ...) state the contract; the
// platform files beside them (dir_unix.go, dir_windows.go ...) hold primitives
// only, the same few names in each.
package tree

import (
	"errors"
	"math"
)

// Errors that callers branch on. The os errors (fs.ErrNotExist,
// fs.ErrPermission, ENOSPC ...) stay testable with errors.Is through every
// wrapping.
var (
	ErrNotFile     = errors.New("not a regular file")
	ErrNotFolder   = errors.New("not a folder") // also: became a link since it was listed
	ErrUnsupported = errors.New("not supported by this file system")
	ErrName        = errors.New("this file system refuses the name")
	ErrResized     = errors.New("it has another size than a moment ago")
)

// Kind of an entry.
type Kind uint8

const (
	None    Kind = iota // absent
	File                // regular file
	Folder              // folder
	Link                // symbolic link, junction, any name surrogate
	Special             // FIFO, socket, device, and what cannot be read as a file
)

// Info is an entry's stat. Times are nanoseconds since 1970, negative before;
// what does not fit is kept at the nearest end of the range (1677 or 2262).
type Info struct {
	Kind      Kind
	Size      int64  // of regular files and links, else 0
	Allocated int64  // bytes on disk; less than Size: sparse
	Mode      uint32 // permission bits with setuid, setgid, sticky (Unix); read-only as 0200 missing (Windows)
	UID, GID  uint32 // 0 on Windows
	Attr      uint32 // Windows attributes hidden, system, archive, read-only, and directory (0x10) of a link to a folder; 0 elsewhere
	MTime     int64
	CTime     int64
	Dev, Ino  uint64 // file id; Ino 0: the platform tells none
	Nlink     uint64
}

func nanoseconds(sec, nsec int64) int64 {
	const limit = math.MaxInt64 / 1_000_000_000
	switch {
	case sec >= limit:
		return math.MaxInt64
	case sec <= -limit:
		return math.MinInt64
	}
	return sec*1e9 + nsec
}
