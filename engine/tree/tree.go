// Package tree reads and writes folder trees through opened folders, never
// through paths: no link below a root is ever followed, so nobody can redirect
// a copy or a removal by swapping a folder for a link. It also holds what
// differs from platform to platform: metadata, volumes, durability, reads past
// the cache. The shared files state the contract; dir_unix.go, dir_windows.go
// and their like hold primitives only.
package tree

// Kind of an entry.
type Kind uint8

const (
	None    Kind = iota // absent
	File                // regular file
	Folder              // folder
	Link                // symbolic link, junction, any name surrogate
	Special             // FIFO, socket, device, and what cannot be read as a file
)

// Info is an entry's stat. Times are nanoseconds since 1970, negative before.
type Info struct {
	Kind      Kind
	Size      int64  // of regular files and links, else 0
	Allocated int64  // bytes on disk; less than Size: sparse
	Mode      uint32 // permission bits with setuid, setgid, sticky (Unix); read-only as 0200 missing (Windows)
	UID, GID  uint32 // 0 on Windows
	Attr      uint32 // Windows attributes hidden, system, archive, read-only; 0 elsewhere
	MTime     int64
	CTime     int64
	Dev, Ino  uint64 // file id; Ino 0: the platform tells none
	Nlink     uint64
}
