package index

import (
	"errors"
	"sync"
)

// What a Spill holds in memory. An action has some 150 bytes, so this is some
// seconds' work of copying small files; more would only wait there.
const (
	spillRecords = 64 << 10
	spillBytes   = 4 << 20
)

// Spill is a first-in first-out queue of byte records: the first 64k wait in
// memory (at most 4 MB), more in an unlinked file in scratch. Put never waits
// for a Next.
type Spill struct {
	scratch              string
	maxRecords, maxBytes int // spillRecords, spillBytes; tests take less

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
	s := &Spill{scratch: scratch, maxRecords: spillRecords, maxBytes: spillBytes}
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
	case s.file.n == 0 && len(s.queue)-s.head < s.maxRecords && s.bytes+len(rec) <= s.maxBytes:
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

// Ready tells that a Next would not wait.
func (s *Spill) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed || s.err != nil || s.ended || s.head < len(s.queue) || s.file.n > 0
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
