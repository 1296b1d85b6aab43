package governor

import (
	"math"
	"time"
)

// slowness guesses from the own steps that others are at work, where no counter
// tells: a step takes much longer than the best that was seen with as many in
// flight. Like TCP Vegas and LEDBAT, but with a wide margin: what is copied changes
// too, and then the best is forgotten within half a minute.
type slowness struct {
	best      [6]float64    // value a second of step time, by the power of two in flight
	learned   int           // windows of work that were seen
	low, fine time.Duration // how long it was bad, or good again
	since     time.Duration // that it suffers
	suffering bool
}

const (
	bad     = 0.4                    // of the best: others are there
	good    = 0.6                    // they are gone
	badFor  = 500 * time.Millisecond // with one tick of delay well below a second
	goodFor = 300 * time.Millisecond
	// longest suffering: what lasts longer is no neighbour but the drive itself.
	longest = 10 * time.Second
)

func (s *slowness) see(c cycle) {
	w := c.work
	if s.suffering {
		s.since += w.took + c.rest.took
	}
	if w.took == 0 || w.mine.time < w.took/4 {
		return // hardly any step: nothing to learn
	}
	s.learned++
	now := w.mine.value() / w.mine.time.Seconds()
	level := math.Round(math.Log2(w.mine.time.Seconds() / w.took.Seconds()))
	best := &s.best[int(min(max(level, 0), float64(len(s.best)-1)))]
	s.judge(now, *best, w.took)
	if now > *best {
		*best += (now - *best) * 0.3
	} else {
		*best *= 1 - decay(w.took, 30*time.Second)
	}
}

// unlearned is true for the first two windows.
func (s *slowness) unlearned() bool { return s.learned < 2 }

func (s *slowness) judge(now, best float64, took time.Duration) {
	switch {
	case best == 0: // never seen with so many in flight
	case now < bad*best:
		s.low, s.fine = s.low+took, 0
	case now > good*best:
		s.low, s.fine = 0, s.fine+took
	}
	if !s.suffering && s.low >= badFor {
		*s = slowness{best: s.best, learned: s.learned, suffering: true}
	}
	if !s.suffering {
		return
	}
	if s.fine >= goodFor {
		*s = slowness{best: s.best, learned: s.learned}
	} else if s.since >= longest {
		*s = slowness{learned: s.learned}
	}
}

// stepValue is what a step is worth beside its bytes: about what a fast drive
// moves in the time that the calls for a small file take.
const stepValue = 64 << 10

// value is the worth of work, in bytes.
func (w work) value() float64 { return float64(w.bytes) + stepValue*float64(w.steps) }
