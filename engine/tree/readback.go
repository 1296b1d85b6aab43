package tree

import (
	"io"
	"io/fs"
	"os"
)

// ReadBack reads an open, synced file past the cache as far as the volume allows
// and hands its bytes on in order, in pieces of at most PieceSize. It reports
// whether all bytes came past the cache (false: inline, compressed, shared or
// unsupported). step surrounds each reading; piece runs on the caller's
// goroutine; the errors of both end the reading. A piece is valid until piece
// returns.
//
// Nobody else may read or write through f meanwhile, and only reads in whole
// blocks afterwards: it stays past the cache. Its name may change.
func ReadBack(f *os.File, v Volume, c Caps, step Step, piece func(p []byte) error) (past bool, err error) {
	in, err := FileInfo(f)
	if err != nil {
		return false, err
	}
	if past, err = GoPast(f, in.Size, v, c); err != nil {
		return false, err
	}
	err = readAll(f, in.Size, step, piece)
	return past && err == nil, err
}

// GoPast makes what is read of a synced file come past the cache, as far as the
// volume allows, and tells whether it does. It is the first half of ReadBack, for
// files of size bytes that are then read as a Group.
func GoPast(f *os.File, size int64, v Volume, c Caps) (bool, error) {
	if size == 0 {
		return true, nil // no bytes, nothing that a cache could hold back
	}
	past, err := goPast(handle(f.Fd()), v, c)
	if err != nil {
		return false, &fs.PathError{Op: "read back", Path: f.Name(), Err: err}
	}
	return past, nil
}

// readBackAhead keeps a device busy while a piece is hashed; with direct reads
// there is no read-ahead by the system. 8 were as good as any number (2 GiB on
// an SSD); 4 are nearly so and hold half the memory.
const readBackAhead = 4

// readAll hands on size bytes; fewer are an error.
func readAll(f *os.File, size int64, step Step, piece func([]byte) error) error {
	s := NewStream(f, size, readBackAhead, step)
	defer s.Close()
	for got := int64(0); got < size; {
		p, err := s.Next()
		if err == io.EOF {
			err = &fs.PathError{Op: "read back", Path: f.Name(), Err: io.ErrUnexpectedEOF}
		}
		if err != nil {
			return err
		}
		got += int64(len(p.Bytes))
		err = piece(p.Bytes)
		p.Free()
		if err != nil {
			return err
		}
	}
	return nil
}
