package tree

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
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

func TestReadBackHandsOnEveryByteInOrder(t *testing.T) {
	for _, size := range []int{0, 1, 511, 4096, 4097, pieceSize - 1, pieceSize, pieceSize + 1, 9*pieceSize + 12345} {
		content := randomBytes(size)
		f, v := filled(t, content)
		var got []byte
		passed, largest := 0, 0
		_, err := ReadBack(f, v, Caps{},
			func(n int) error { passed += n; return nil },
			func(p []byte) error {
				got = append(got, p...)
				if largest = max(largest, len(p)); passed < len(got) {
					t.Error("a piece was read before it was passed")
				}
				return nil
			})
		must(t, err)
		if !bytes.Equal(got, content) || passed != size || largest > pieceSize {
			t.Errorf("%d bytes: equal %v, passed %d, largest piece %d", size, bytes.Equal(got, content), passed, largest)
		}
	}
}

func TestReadBackEndsWithTheCallersError(t *testing.T) {
	f, v := filled(t, randomBytes(6*pieceSize))
	stop := errors.New("stop")
	nothing := func(int) error { return nil }
	for at := range 6 {
		n := 0
		count := func() error {
			if n++; n > at {
				return stop
			}
			return nil
		}
		_, err := ReadBack(f, v, Caps{}, nothing, func([]byte) error { return count() })
		wantError(t, err, stop)
		n = 0
		past, err := ReadBack(f, v, Caps{}, func(int) error { return count() }, func([]byte) error { return nil })
		wantError(t, err, stop)
		if past {
			t.Error("an unfinished reading was called past the cache")
		}
	}
}

func TestReadBackOfAFileThatShrinksIsAnError(t *testing.T) {
	f, v := filled(t, randomBytes(2*pieceSize))
	_, err := ReadBack(f, v, Caps{},
		func(int) error { return f.Truncate(100) },
		func([]byte) error { return nil })
	wantError(t, err, io.ErrUnexpectedEOF)
}
