package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
)

// What a Spill holds in memory: 64k actions (engine.md), unless they are longer
// than 256 bytes on average.
const (
	spillRecords = 64 << 10
	spillMemory  = 16 << 20
)

// Spill is a first-in first-out queue of byte records: the first 64k wait in
// memory (at most 16 MB), more in an unlinked file in scratch. Put never waits
// for a Next.
type Spill struct {
	scratch string

	// mu guards all below, also while the file is read or written: whoever puts
	// more than memory holds has to wait for the disk.
	mu     sync.Mutex
	wake   sync.Cond // of mu: a record was put, or state changed
	queue  [][]byte  // older than all in the file
	head   int       // of queue
	bytes  int       // in queue
	file   fileQueue
	ended  bool // Done
	closed bool
	err    error
}

var errSpill = errors.New("spill: used after Done or Close")

// NewSpill makes an empty Spill. The file is made when it is first needed.
func NewSpill(scratch string) *Spill {
	s := &Spill{scratch: scratch}
	s.wake.L = &s.mu
	return s
}

// Put appends a copy of rec. From any goroutine.
func (s *Spill) Put(rec []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case s.ended || s.closed:
		return errSpill
	case s.file.n == 0 && len(s.queue)-s.head < spillRecords && s.bytes+len(rec) <= spillMemory:
		s.push(rec)
	default:
		if s.err = s.file.push(s.scratch, rec); s.err != nil {
			s.wake.Broadcast()
			return s.err
		}
	}
	s.wake.Signal()
	return nil
}

// Next takes the oldest record, waiting for one; it is the caller's. ok false:
// Done was called and all is taken, or Close. From any goroutine.
func (s *Spill) Next() (rec []byte, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return nil, false, nil
		case s.err != nil:
			return nil, false, s.err
		case s.head < len(s.queue):
			return s.pop(), true, nil
		case s.file.n > 0:
			if rec, s.err = s.file.pop(); s.err != nil {
				s.wake.Broadcast()
				return nil, false, s.err
			}
			return rec, true, nil
		case s.ended:
			return nil, false, nil
		}
		s.wake.Wait()
	}
}

func (s *Spill) push(rec []byte) {
	if s.head > len(s.queue)/2 && len(s.queue) == cap(s.queue) {
		n := copy(s.queue, s.queue[s.head:])
		clear(s.queue[n:])
		s.queue, s.head = s.queue[:n], 0
	}
	s.queue = append(s.queue, append([]byte(nil), rec...))
	s.bytes += len(rec)
}

func (s *Spill) pop() []byte {
	rec := s.queue[s.head]
	s.queue[s.head] = nil
	s.head++
	s.bytes -= len(rec)
	if s.head == len(s.queue) {
		s.queue, s.head = s.queue[:0], 0
	}
	return rec
}

// Done tells that nothing more will be put.
func (s *Spill) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.wake.Broadcast()
}

// Close drops what is left and ends every Next. It may be called more than once.
func (s *Spill) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.queue, s.head, s.bytes = nil, 0, 0
	s.wake.Broadcast()
	return s.file.close()
}

// fileQueue is a queue of records (length as uvarint, bytes) in a file, read and
// written in large pieces. What is written has whole records only, so when all
// of it is read, no record is cut.
type fileQueue struct {
	n       int64 // records
	f       *os.File
	written int64  // bytes in f
	read    int64  // bytes of f that went to in
	out     []byte // the youngest records, not yet in f
	in      []byte // the oldest
	inStore []byte // what in lies in
}

const filePiece = 256 << 10

func (q *fileQueue) push(scratch string, rec []byte) error {
	q.out = binary.AppendUvarint(q.out, uint64(len(rec)))
	q.out = append(q.out, rec...)
	q.n++
	if len(q.out) < filePiece {
		return nil
	}
	if q.f == nil {
		f, err := newScratch(scratch)
		if err != nil {
			return err
		}
		q.f = f
	}
	n, err := q.f.WriteAt(q.out, q.written)
	q.written += int64(n)
	q.out = q.out[:0]
	return err
}

func (q *fileQueue) pop() ([]byte, error) {
	size, head := binary.Uvarint(q.in)
	if head <= 0 {
		if err := q.fill(binary.MaxVarintLen64); err != nil {
			return nil, err
		}
		size, head = binary.Uvarint(q.in)
	}
	if head <= 0 || size > uint64(q.written)+uint64(len(q.in)) {
		return nil, errScratch
	}
	whole := head + int(size)
	if len(q.in) < whole {
		if err := q.fill(whole); err != nil {
			return nil, err
		}
		if len(q.in) < whole {
			return nil, errScratch
		}
	}
	rec := append([]byte(nil), q.in[head:whole]...)
	q.in = q.in[whole:]
	q.n--
	return rec, nil
}

var errScratch = errors.New("the scratch file returned other bytes than were written")

// fill makes in hold n bytes, or all there are.
func (q *fileQueue) fill(n int) error {
	if q.read == q.written {
		if len(q.in) > 0 { // see fileQueue
			return errScratch
		}
		q.in, q.out = q.out, q.inStore[:0]
		q.inStore = q.in
		q.read, q.written = 0, 0
		return nil
	}
	have := len(q.in)
	more := min(int64(max(n, filePiece)-have), q.written-q.read)
	store := q.inStore
	if want := have + int(more); cap(store) < want {
		store = make([]byte, want)
	}
	store = store[:have+int(more)]
	copy(store, q.in)
	if _, err := q.f.ReadAt(store[have:], q.read); err != nil {
		return fmt.Errorf("read back what was spilled: %w", err)
	}
	q.read += more
	q.in, q.inStore = store, store
	return nil
}

func (q *fileQueue) close() error {
	f := q.f
	*q = fileQueue{}
	if f == nil {
		return nil
	}
	return f.Close()
}
