package governor

import (
	"context"
	"slices"
	"sync"
)

// slots is a semaphore whose size changes while it is in use. Who waits longest
// is let in first. Shrinking it takes nothing back. The zero value has no slots.
type slots struct {
	mu      sync.Mutex
	size    int
	used    int
	high    int             // most in use since peak was asked
	waiting []chan struct{} // each closed when its owner is let in
	empty   chan struct{}   // non-nil while somebody waits for it; closed when none is in use
}

// take waits for a slot. The only error is that of ctx.
func (s *slots) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.used < s.size && len(s.waiting) == 0 {
		s.occupy()
		s.mu.Unlock()
		return nil
	}
	in := make(chan struct{})
	s.waiting = append(s.waiting, in)
	s.mu.Unlock()
	select {
	case <-in:
		return nil
	case <-ctx.Done():
		s.leave(in)
		return ctx.Err()
	}
}

// leave gives up waiting, also where the slot came at the same moment.
func (s *slots) leave(in chan struct{}) {
	s.mu.Lock()
	i := slices.Index(s.waiting, in)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		s.give()
	}
}

// give frees a slot.
func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.admit()
	if s.used == 0 && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}

func (s *slots) resize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = n
	s.admit()
}

func (s *slots) admit() {
	for s.used < s.size && len(s.waiting) > 0 {
		close(s.waiting[0])
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.occupy()
	}
}

func (s *slots) occupy() {
	s.used++
	s.high = max(s.high, s.used)
}

// drained waits until no slot is in use; false if ctx ended before.
func (s *slots) drained(ctx context.Context) bool {
	s.mu.Lock()
	if s.used == 0 {
		s.mu.Unlock()
		return true
	}
	if s.empty == nil {
		s.empty = make(chan struct{})
	}
	empty := s.empty
	s.mu.Unlock()
	select {
	case <-empty:
		return true
	case <-ctx.Done():
		return false
	}
}

// peak is the most slots that were in use since it was asked last.
func (s *slots) peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	high := s.high
	s.high = s.used
	return high
}
