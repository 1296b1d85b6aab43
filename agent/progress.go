package agent

import (
	"slices"
	"time"

	"github.com/hourhand/hourhand/engine"
)

// progress takes a run's snapshot from the engine, at most 4 a second, and never
// keeps it waiting.
func (a *Agent) progress(r *request, p engine.Progress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.status.Progress = p
	r.status.Speeds = r.speed.add(time.Now(), p.CopyDone)
	a.publish()
}

// speedometer turns counts of bytes into speeds, one for each second.
type speedometer struct {
	speeds []float64
	since  time.Time // beginning of the second that is not full yet
	bytes  int64     // copied until then
}

// shownSpeeds is a minute: what the dashboard's speed line shows.
const shownSpeeds = 60

// add notes how many bytes are copied by now and returns the speeds of the last
// minute, oldest first, in a slice of their own. Seconds without a word from the
// engine share what came after them.
func (s *speedometer) add(now time.Time, copied int64) []float64 {
	if s.since.IsZero() {
		s.since, s.bytes, s.speeds = now, copied, []float64{}
	}
	if passed := now.Sub(s.since); passed >= time.Second {
		speed := float64(copied-s.bytes) / passed.Seconds()
		seconds := int(passed / time.Second)
		s.since, s.bytes = now, copied
		speeds := slices.Clone(s.speeds) // snapshots share the old ones
		for range min(seconds, shownSpeeds) {
			speeds = append(speeds, speed)
		}
		s.speeds = speeds[max(0, len(speeds)-shownSpeeds):]
	}
	return s.speeds
}
