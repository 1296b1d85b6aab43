package agent

import (
	"context"
	"iter"
	"time"
)

// snapshot is a Status and the word that a newer one exists.
type snapshot struct {
	Status
	stale chan struct{} // closed when the next snapshot is in place
}

// publish puts a new snapshot in place and wakes everyone who watches. It waits
// for nobody: the engine's progress comes through here. Call with mu held.
func (a *Agent) publish() {
	before := a.current.Swap(&snapshot{a.picture(), make(chan struct{})})
	if before != nil {
		close(before.stale)
	}
}

// Status is the present snapshot.
func (a *Agent) Status() Status {
	return a.current.Load().at(a.now())
}

func (s *snapshot) at(now time.Time) Status {
	status := s.Status
	status.Now = now
	return status
}

// Watch yields the present snapshot and then each newer one, the latest always;
// a slow reader misses those in between. It ends with ctx.
func (a *Agent) Watch(ctx context.Context) iter.Seq[Status] {
	return func(yield func(Status) bool) {
		for ctx.Err() == nil {
			s := a.current.Load()
			if !yield(s.at(a.now())) {
				return
			}
			select {
			case <-s.stale:
			case <-ctx.Done():
			}
		}
	}
}
