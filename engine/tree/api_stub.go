package tree

import (
	"context"
	"errors"
	"os"
)

// Errors that callers branch on. The os errors (fs.ErrNotExist,
// fs.ErrPermission, ENOSPC ...) stay testable with errors.Is through every
// wrapping.
var (
	ErrNotFile     = errors.New("not a regular file")
	ErrNotFolder   = errors.New("not a folder") // also: became a link since it was listed
	ErrUnsupported = errors.New("not supported by this file system")
)

// Dir is an opened folder. Names are single components; a name that is empty,
// "." or "..", or that holds a separator or NUL is refused with fs.ErrInvalid,
// so that no caller can leave the tree by mistake. Its methods may be called
// from any goroutine.
type Dir struct{}

// Open opens a root. Links in path, and path itself if it is a link, are
// resolved now, once.
func Open(path string) (*Dir, error) { panic("stub") }

func (d *Dir) Close() error { panic("stub") }

// Sub opens a folder in d. A link is ErrNotFolder, never followed.
func (d *Dir) Sub(name string) (*Dir, error) { panic("stub") }

// Names lists all entries, unsorted, without "." and "..", each once. Only a nil
// error means that the list is whole.
func (d *Dir) Names() ([]string, error) { panic("stub") }

// Stat is lstat of an entry.
func (d *Dir) Stat(name string) (Info, error) { panic("stub") }

// Info is the stat of d itself.
func (d *Dir) Info() (Info, error) { panic("stub") }

// Mount tells which mount d lies on: equal numbers, same mount (statx mount id
// where there is one, else the device). A junction or mount point is another.
func (d *Dir) Mount() (uint64, error) { panic("stub") }

// OpenFile opens a regular file for reading and returns the stat of what was
// really opened. It never blocks (FIFO) and never follows a link: ErrNotFile.
// The access time is left alone where the rights allow (O_NOATIME).
func (d *Dir) OpenFile(name string) (*os.File, Info, error) { panic("stub") }

// Create makes a new file, 0600, open for reading and writing; fs.ErrExist if
// the name is taken.
func (d *Dir) Create(name string) (*os.File, error) { panic("stub") }

// Mkdir makes a folder, 0700.
func (d *Dir) Mkdir(name string) error { panic("stub") }

// Remove removes a file, link or special file, never a folder. A read-only
// attribute of ours is no obstacle (it is cleared once).
func (d *Dir) Remove(name string) error { panic("stub") }

// Rmdir removes an empty folder.
func (d *Dir) Rmdir(name string) error { panic("stub") }

// Readlink reads a link's target as it is stored.
func (d *Dir) Readlink(name string) (string, error) { panic("stub") }

// Symlink makes a link. folder: whether it points to a folder (Windows).
func (d *Dir) Symlink(target, name string, folder bool) error { panic("stub") }

// Link makes toName in to another name of the file name in d.
func (d *Dir) Link(name string, to *Dir, toName string) error { panic("stub") }

// Rename moves an entry, replacing a file or link at the new place atomically.
// Where both are names of one inode, and rename(2) would do nothing, the old
// name is removed. Transient Windows errors (5, 32, 33) are tried for 2 s.
func (d *Dir) Rename(name string, to *Dir, toName string) error { panic("stub") }

// RenameNew moves an entry; fs.ErrExist if the new place is taken
// (RENAME_NOREPLACE; where the file system lacks it, lstat and rename).
func (d *Dir) RenameNew(name string, to *Dir, toName string) error { panic("stub") }

// File makes an *os.File for syncs of d; the caller closes it.
func (d *Dir) File() (*os.File, error) { panic("stub") }

// FileInfo is the stat of an open file.
func FileInfo(f *os.File) (Info, error) { panic("stub") }

// Lost says which metadata could not be kept: counted and told once per run,
// never a data error.
type Lost struct{ Owner, Xattr, Mode, Times bool }

// SetFile gives a staged file the metadata of its source: owner, xattrs and ACLs
// (capabilities last), mode, times last. src is the open source file. The error
// is for what makes the copy wrong (I/O error); refusals (EPERM, ENOTSUP) are Lost.
func SetFile(dst, src *os.File, in Info) (Lost, error) { panic("stub") }

// SetFolder gives folder dst the metadata of folder src, in the same order.
func SetFolder(dst, src *Dir, in Info) (Lost, error) { panic("stub") }

// SetLink gives the link name in d owner, xattrs where possible, and times.
func (d *Dir) SetLink(name string, in Info) (Lost, error) { panic("stub") }

// SameMeta tells whether dst has the owner, mode and mtime (within grain) that
// SetFile or SetFolder would give it. Fields that this volume or these rights
// cannot hold do not count.
func SameMeta(src, dst Info, c Caps) bool { panic("stub") }

// SameXattrs compares the xattrs (and so the ACLs) of two open files or folders.
func SameXattrs(a, b *os.File) (bool, error) { panic("stub") }

// MkdirRoot makes the last component of path if its parent exists.
func MkdirRoot(path string) error { panic("stub") }

// Ancestors lists device and inode of path and of every folder above it, links
// resolved, for the overlap guard.
func Ancestors(path string) ([][2]uint64, error) { panic("stub") }

// Volume is the file system that a folder lies on.
type Volume struct {
	ID          string // stable identity (UUID, serial), "" if the platform tells none
	FileSystem  string // "ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuse", "nfs", "cifs", "exfat", "vfat", "ntfs", "apfs", ...
	Network     bool
	StableIDs   bool   // file ids and ctimes survive a remount and mean something
	GroupSync   bool   // one syncfs is a flush: ext4, xfs, btrfs on Linux 5.17 or newer
	PastCache   bool   // read back can reach the device: ext4, xfs, btrfs
	Durable     string // "": a sync reaches the device; else the reason why not provable ("mounted with nobarrier")
	ReadOnly    bool
	Free, Total int64 // bytes; Free is what this user may fill
	FreeFiles   int64 // inodes left, -1 unknown
}

// Volume looks at the file system of d.
func (d *Dir) Volume() (Volume, error) { panic("stub") }

// Caps is what a volume can hold, found by trying it in a scratch folder.
type Caps struct {
	Links     bool // symbolic links
	HardLinks bool
	Owner     bool  // chown works for these rights
	Modes     bool  // permission bits are kept
	Xattrs    bool  // user xattrs are kept
	FoldsCase bool  // "a" and "A" are one name
	FoldsForm bool  // NFC and NFD of one name are one name
	Grain     int64 // of mtimes, ns; 1 = exact
	Inline    bool  // small files live in the inode: cannot be read past the cache
}

// Probe tries a volume in folder d, which is ours, and leaves nothing behind.
func Probe(d *Dir) (Caps, error) { panic("stub") }

// Syncer makes writes to one file system durable. Open it before the first
// write and keep it: a write error is told once, to a handle opened before.
type Syncer struct{}

// NewSyncer opens the handle in d. v decides the way: one syncfs and an fsync of
// one file (GroupSync), else fsync of each file in parallel and of each folder.
func NewSyncer(d *Dir, v Volume) (*Syncer, error) { panic("stub") }

// Sync makes the files' contents and metadata and the entries of folders
// durable. An error means: nothing since the last good Sync can be trusted.
// EINVAL and ENOTSUP of a folder's fsync are no error (see Unproved).
func (s *Syncer) Sync(ctx context.Context, files []*os.File, folders []*Dir) error { panic("stub") }

// Unproved is the reason why durability cannot be proved, found while syncing.
func (s *Syncer) Unproved() string { panic("stub") }

func (s *Syncer) Close() error { panic("stub") }

// ReadBack reads size bytes of an open, synced file past the cache as far as
// the volume allows and hands them on in order, in pieces of at most 1 MiB. It
// reports whether all bytes came past the cache (false: inline, compressed,
// shared or unsupported). pass is called before each piece with its length.
func ReadBack(f *os.File, v Volume, c Caps, pass func(n int) error, piece func(p []byte) error) (past bool, err error) {
	panic("stub")
}

// StartWrite asks the system to begin writing out a range, without waiting.
func StartWrite(f *os.File, off, n int64) {}

// Advise tells that a file will be read once, from start to end.
func Advise(f *os.File) {}

// Forget tells that the pages of a file that was read are not needed, unless
// they were in the cache before.
func Forget(f *os.File) {}

// NameError tells why a volume with these Caps and this file system cannot hold
// a name ("", it can): too long, reserved, forbidden characters.
func NameError(name string, v Volume) string { panic("stub") }

// Fold maps names that the volume takes for one to one key.
func Fold(name string, c Caps) string { panic("stub") }

// Background lowers the calling thread's CPU priority and its I/O class to idle,
// where the platform has them. The goroutine must hold its thread
// (runtime.LockOSThread) and end with it.
func Background() {}

// Machine is an opaque, stable id of this machine.
func Machine() string { panic("stub") }
