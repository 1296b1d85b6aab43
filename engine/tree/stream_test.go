package tree

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
	"testing"
)

// drain reads a stream to its end.
func drain(s *Stream) (got []byte, err error) {
	defer s.Close()
	for {
		p, err := s.Next()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, p.Bytes...)
		p.Free()
	}
}

// The size in a stat may be of a moment ago, or lie: what counts is where the
// reading ends. Direct reads must end alike.
func TestStreamReadsToTheEndWhateverTheStatSaid(t *testing.T) {
	for _, size := range []int{0, 1, Block, Block + 1, PieceSize - 1, PieceSize, PieceSize + 1, 3*PieceSize + 17} {
		content := randomBytes(size)
		for _, told := range []int{0, 1, size / 2, size - 1, size, size + 1, 2*size + PieceSize} {
			for _, direct := range []bool{false, true} {
				f, v := filled(t, content)
				dropPages(handle(f.Fd()))
				if direct && !GoDirect(f, v, int64(size)) {
					continue
				}
				got, err := drain(NewStream(f, int64(told), 3, atOnce))
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%d bytes, told %d, direct %v: got %d bytes, equal %v, %v", size, told, direct, len(got), bytes.Equal(got, content), err)
				}
			}
		}
	}
}

func TestStreamGoesAheadAndNoFarther(t *testing.T) {
	f, _ := filled(t, randomBytes(9*PieceSize))
	var asked atomic.Int64
	s := NewStream(f, 9*PieceSize, 3, func(_ int, do func() error) error { asked.Add(1); return do() })
	p, err := s.Next()
	must(t, err)
	p.Free()
	s.Close()
	if n := asked.Load(); n != 3 {
		t.Errorf("got %d pieces asked for, want 3", n)
	}
}

func TestStreamEndsWithTheFirstErrorInOrder(t *testing.T) {
	stop := errors.New("stop")
	f, _ := filled(t, randomBytes(5*PieceSize))
	var asked atomic.Int64
	s := NewStream(f, 5*PieceSize, 1, func(_ int, do func() error) error {
		if asked.Add(1) == 3 {
			return stop
		}
		return do()
	})
	got, err := drain(s)
	wantError(t, err, stop)
	if len(got) != 2*PieceSize {
		t.Errorf("got %d bytes before it, want two pieces", len(got))
	}
	if _, err := s.Next(); err != io.EOF {
		t.Errorf("after an error: got %v, want io.EOF", err)
	}
}
