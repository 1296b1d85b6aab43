package tree

import (
	"io/fs"
	"os"
)

// GoDirect makes what follows on f go past the cache: for large files that costs
// less than half the CPU time, and leaves the cache to those who use it. Pieces
// are aligned as it needs. It reports whether it did: not where the volume
// or file cannot, and not for a file of which most is in the cache already.
func GoDirect(f *os.File, v Volume, size int64) bool {
	return v.PastCache && goDirect(handle(f.Fd()), size)
}

// GoBuffered undoes GoDirect, for what is no whole number of Blocks.
func GoBuffered(f *os.File) error {
	if err := setDirect(handle(f.Fd()), false); err != nil {
		return &fs.PathError{Op: "turn to buffered writes", Path: f.Name(), Err: err}
	}
	return nil
}

// Allocate reserves space for a file that is about to be written and gives it its
// size, so that direct writes need not wait for each other. Only a lack of space
// is an error.
func Allocate(f *os.File, size int64) error {
	if err := allocate(handle(f.Fd()), size); err != nil {
		return &fs.PathError{Op: "reserve space for", Path: f.Name(), Err: err}
	}
	return nil
}
