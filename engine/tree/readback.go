package tree

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"unsafe"
)

// ReadBack reads an open, synced file past the cache as far as the volume allows
// and hands its bytes on in order, in pieces of at most 1 MiB. It reports whether
// all bytes came past the cache (false: inline, compressed, shared or
// unsupported). pass is called before each piece is asked for, with the length
// that is to be read, and may wait; pass and piece run on the caller's goroutine
// and their errors end the reading. A piece is valid until piece returns.
//
// Nobody else may read or write through f meanwhile: it is switched to direct
// reads and back. Its name may change.
func ReadBack(f *os.File, v Volume, c Caps, pass func(n int) error, piece func(p []byte) error) (past bool, err error) {
	in, err := FileInfo(f)
	if err != nil {
		return false, err
	}
	if in.Size == 0 {
		return true, nil // no bytes, nothing that a cache could hold back
	}
	past, back, err := goPast(handle(f.Fd()), v, c)
	if err != nil {
		return false, &fs.PathError{Op: "read back", Path: f.Name(), Err: err}
	}
	err = errors.Join(readAhead(f, in.Size, pass, piece), back())
	return past && err == nil, err
}

const (
	pieceSize = 1 << 20
	// ahead keeps a device busy while a piece is hashed; with direct reads there
	// is no read-ahead by the system.
	ahead = 4
	// blockSize is a multiple of the alignment that any device asks for so far;
	// a volume that asks for more is read through the cache.
	blockSize = 4096
)

// pieces are aligned to blocks.
var pieces = sync.Pool{New: func() any {
	raw := make([]byte, pieceSize+blockSize)
	skip := -uintptr(unsafe.Pointer(&raw[0])) % blockSize
	buf := raw[skip : skip+pieceSize]
	return &buf
}}

// reading is one piece on its way.
type reading struct {
	buf  *[]byte
	want int
	done chan error
}

func readAhead(f *os.File, size int64, pass func(int) error, piece func([]byte) error) error {
	var flying []reading
	defer func() {
		for _, r := range flying {
			<-r.done
			pieces.Put(r.buf)
		}
	}()
	for asked := int64(0); asked < size || len(flying) > 0; {
		for asked < size && len(flying) < ahead {
			n := int(min(size-asked, pieceSize))
			if err := pass(n); err != nil {
				return err
			}
			flying = append(flying, startReading(f, asked, n, size <= pieceSize))
			asked += int64(n)
		}
		r := flying[0]
		flying = flying[1:]
		err := <-r.done
		if err == nil {
			err = piece((*r.buf)[:r.want])
		}
		pieces.Put(r.buf)
		if err != nil {
			return err
		}
	}
	return nil
}

// startReading asks for one piece. A file of one piece is not worth a goroutine.
func startReading(f *os.File, off int64, n int, alone bool) reading {
	r := reading{pieces.Get().(*[]byte), n, make(chan error, 1)}
	read := func() { r.done <- readPiece(f, *r.buf, off, n) }
	if alone {
		read()
	} else {
		go read() // ends with its read; readAhead waits for it
	}
	return r
}
