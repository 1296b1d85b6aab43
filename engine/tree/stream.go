package tree

import (
	"io"
	"os"
	"sync"
	"unsafe"
)

// PieceSize is the step of all reading and writing: pause, limit and governor
// are asked between two steps. 1 to 8 MiB were alike in speed, 32 were slower.
const PieceSize = 1 << 20

// Block is the unit of direct I/O, a multiple of the alignment that any device
// asks for so far; a volume that asks for more is used through the cache.
const Block = 4096

// A Step surrounds one step of I/O over at most n bytes: it may wait before it
// calls do, and must pass do's error on. It is called from several goroutines.
type Step func(n int, do func() error) error

// Piece is a part of a file on its way. It is PieceSize bytes long, but for the
// last of a file, and aligned as direct I/O wants. It must be freed once.
type Piece struct {
	Bytes []byte
	Off   int64
	buf   *[]byte
}

// Free gives the piece's memory back, unless it is somebody else's. Its bytes are
// not valid any more.
func (p Piece) Free() {
	if p.buf != nil {
		pieces.Put(p.buf)
	}
}

var pieces = sync.Pool{New: func() any {
	raw := make([]byte, PieceSize+Block)
	skip := -uintptr(unsafe.Pointer(&raw[0])) % Block
	buf := raw[skip : skip+PieceSize]
	return &buf
}}

// Stream reads a file from its start to its end, in order, several pieces ahead
// of who takes them: that keeps a drive busy and hides a network's latency.
type Stream struct {
	f      *os.File
	size   int64
	ahead  int
	step   Step
	asked  int64 // up to here pieces were asked for
	flying []*flight
	ended  bool
}

// flight is one piece that is being read.
type flight struct {
	Piece
	done chan struct{}
	err  error
}

// NewStream prepares to read f, up to ahead pieces at once. size is what a stat
// said: it decides how far to go ahead; the end is where reading finds it. Nobody
// else may use f meanwhile.
func NewStream(f *os.File, size int64, ahead int, step Step) *Stream {
	return &Stream{f: f, size: size, ahead: ahead, step: step}
}

// Next gives the next piece, which the caller frees; io.EOF behind the last one.
// After an error it gives no more.
func (s *Stream) Next() (Piece, error) {
	for !s.ended && len(s.flying) < s.ahead && (s.asked < s.size || len(s.flying) == 0) {
		s.ask()
	}
	if s.ended {
		return Piece{}, io.EOF
	}
	x := s.flying[0]
	s.flying = s.flying[1:]
	<-x.done
	s.ended = x.err != nil || len(x.Bytes) < PieceSize
	if x.err == nil && len(x.Bytes) == 0 {
		x.err = io.EOF
	}
	if x.err != nil {
		x.Free()
		return Piece{}, x.err
	}
	return x.Piece, nil
}

// ask begins to read one piece. That of a small file is not worth a goroutine.
func (s *Stream) ask() {
	buf := pieces.Get().(*[]byte)
	x := &flight{Piece: Piece{Off: s.asked, buf: buf}, done: make(chan struct{})}
	s.asked += PieceSize
	s.flying = append(s.flying, x)
	read := func() {
		defer close(x.done)
		n := 0
		x.err = s.step(int(max(0, min(PieceSize, s.size-x.Off))), func() (err error) {
			n, err = readPiece(s.f, *buf, x.Off, s.size)
			return err
		})
		x.Bytes = (*buf)[:n]
	}
	if s.size < PieceSize || s.ahead == 1 {
		read()
	} else {
		go read() // ends with its read, and Close waits for it
	}
}

// Close waits for what is being read. The file stays open.
func (s *Stream) Close() {
	s.ended = true
	for _, x := range s.flying {
		<-x.done
		x.Free()
	}
	s.flying = nil
}
