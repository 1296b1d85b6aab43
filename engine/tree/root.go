package tree

import (
	"io/fs"
	"os"
	"path/filepath"
)

// MkdirRoot makes the last component of path if its parent exists. A path that
// exists already is fs.ErrExist, a missing parent fs.ErrNotExist.
func MkdirRoot(path string) error { return os.Mkdir(filepath.Clean(path), 0o777) }

// Ancestors lists device and inode of path and of every folder above it, links
// resolved, for the overlap guard: two folders overlap if the first pair of one
// is among the pairs of the other.
func Ancestors(path string) ([][2]uint64, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	at, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	var ids [][2]uint64
	for {
		in, err := statPath(at)
		if err != nil {
			return nil, &fs.PathError{Op: "stat", Path: at, Err: err}
		}
		ids = append(ids, [2]uint64{in.Dev, in.Ino})
		above := filepath.Dir(at)
		if above == at {
			return ids, nil
		}
		at = above
	}
}
