package tree

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
)

func randomBytes(n int) []byte {
	p := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(p)
	return p
}

// filled makes a synced file on whatever the folder for temporary files is on.
func filled(t *testing.T, content []byte) (*os.File, Volume) {
	t.Helper()
	d, _ := openTemp(t)
	v, err := d.Volume()
	must(t, err)
	f, err := d.Create("file")
	must(t, err)
	t.Cleanup(func() { f.Close() })
	_, err = f.Write(content)
	must(t, err)
	must(t, f.Sync())
	return f, v
}

// atOnce is the step of those whom nobody holds up.
func atOnce(_ int, do func() error) error { return do() }

func TestReadBackHandsOnEveryByteInOrder(t *testing.T) {
	for _, size := range []int{0, 1, 511, 4096, 4097, PieceSize - 1, PieceSize, PieceSize + 1, 9*PieceSize + 12345} {
		content := randomBytes(size)
		f, v := filled(t, content)
		var got []byte
		var passed atomic.Int64
		largest := 0
		_, err := ReadBack(f, v, Caps{},
			func(n int, do func() error) error { passed.Add(int64(n)); return do() },
			func(p []byte) error {
				got = append(got, p...)
				if largest = max(largest, len(p)); passed.Load() < int64(len(got)) {
					t.Error("a piece was read before it was passed")
				}
				return nil
			})
		must(t, err)
		if !bytes.Equal(got, content) || passed.Load() != int64(size) || largest > PieceSize {
			t.Errorf("%d bytes: equal %v, passed %d, largest piece %d", size, bytes.Equal(got, content), passed.Load(), largest)
		}
	}
}

func TestReadBackEndsWithTheCallersError(t *testing.T) {
	f, v := filled(t, randomBytes(6*PieceSize))
	stop := errors.New("stop")
	for at := range 6 {
		var n atomic.Int32
		count := func() error {
			if n.Add(1) > int32(at) {
				return stop
			}
			return nil
		}
		_, err := ReadBack(f, v, Caps{}, atOnce, func([]byte) error { return count() })
		wantError(t, err, stop)
		n.Store(0)
		past, err := ReadBack(f, v, Caps{}, func(_ int, do func() error) error { return errors.Join(count(), do()) }, func([]byte) error { return nil })
		wantError(t, err, stop)
		if past {
			t.Error("an unfinished reading was called past the cache")
		}
	}
}

func TestReadBackOfAFileThatShrinksIsAnError(t *testing.T) {
	f, v := filled(t, randomBytes(2*PieceSize))
	_, err := ReadBack(f, v, Caps{},
		func(_ int, do func() error) error { return errors.Join(f.Truncate(100), do()) },
		func([]byte) error { return nil })
	wantError(t, err, io.ErrUnexpectedEOF)
}
