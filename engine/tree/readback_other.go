//go:build !linux

package tree

import (
	"io"
	"os"
)

// goPast cannot promise anything here: volumes have no PastCache.
func goPast(handle, Volume, Caps) (past bool, back func() error, err error) {
	return false, func() error { return nil }, nil
}

func readPiece(f *os.File, buf []byte, off int64, n int) error {
	got, err := f.ReadAt(buf[:n], off)
	if got == n {
		return nil
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func probeInline(*os.File, Volume) (bool, error) { return false, nil }
