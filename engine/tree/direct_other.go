//go:build !linux

package tree

import (
	"io"
	"os"
)

// These systems do without direct I/O: Windows and macOS have it, but neither
// could be measured.

func goDirect(handle, int64) bool { return false }

func setDirect(handle, bool) error { return nil }

func allocate(handle, int64) error { return nil }

func readPiece(f *os.File, buf []byte, off, _ int64) (int, error) {
	n, err := f.ReadAt(buf, off)
	if err == io.EOF {
		err = nil
	}
	return n, err
}
