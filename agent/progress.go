package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hourhand/hourhand/engine"
)

// progress takes a run's snapshot from the engine, at most 4 a second, and never
// keeps it waiting.
func (a *Agent) progress(r *request, p engine.Progress) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	r.status.Progress = p
	r.status.Speeds, r.status.Shares = r.minute.add(now, p)
	r.manner.add(now, p)
	a.publish()
}

// minute turns counts of bytes into speeds, one for each second, and the shares
// heard meanwhile into one beside each speed.
type minute struct {
	speeds, shares []float64
	since          time.Time // beginning of the second that is not full yet
	bytes          int64     // copied until then
	sum            float64   // of the shares heard since
	heard          int
}

// shownSpeeds is a minute: what the dashboard's graph shows.
const shownSpeeds = 60

// add notes how far the run is by now and returns speeds and shares of the last
// minute, oldest first, in slices of their own. Seconds without a word from the
// engine share what came after them.
func (m *minute) add(now time.Time, p engine.Progress) (speeds, shares []float64) {
	if m.since.IsZero() {
		m.since, m.bytes, m.speeds, m.shares = now, p.CopyDone, []float64{}, []float64{}
	}
	m.sum, m.heard = m.sum+shareOf(p), m.heard+1
	if passed := now.Sub(m.since); passed >= time.Second {
		seconds := min(int(passed/time.Second), shownSpeeds)
		m.speeds = later(m.speeds, float64(p.CopyDone-m.bytes)/passed.Seconds(), seconds)
		m.shares = later(m.shares, m.sum/float64(m.heard), seconds)
		m.since, m.bytes, m.sum, m.heard = now, p.CopyDone, 0, 0
	}
	return m.speeds, m.shares
}

// later is the last minute after n more seconds with one value. Snapshots share
// the slice given, so it stays as it is.
func later(values []float64, v float64, n int) []float64 {
	all := slices.Concat(values, slices.Repeat([]float64{v}, n))
	return all[max(0, len(all)-shownSpeeds):]
}

// shareOf is what a run takes of what it could: all of it without a governor. A
// paused run gives way to a person, which is told elsewhere.
func shareOf(p engine.Progress) float64 {
	if p.Paused || p.Pace.Share == 0 {
		return 1
	}
	return p.Pace.Share
}

// manner sums up how a run gave way to others.
type manner struct {
	at     time.Time     // of the snapshot before
	lasted time.Duration // giving way
	least  float64       // share that it took; 0: it never gave way
	to     string        // to whom, then
}

// longestSilence bounds the time that a snapshot stands for: they come 4 times a
// second, and a machine that slept in between gave way to nobody.
const longestSilence = time.Second

func (m *manner) add(now time.Time, p engine.Progress) {
	before := m.at
	m.at = now
	share := shareOf(p)
	if before.IsZero() || !GivesWay(share) {
		return
	}
	m.lasted += min(now.Sub(before), longestSilence)
	if m.least == 0 || share < m.least {
		m.least, m.to = share, p.Pace.Yielded
	}
}

// worthANote is how long a run must have given way for its record to say so: less
// explains nothing.
const worthANote = time.Second

func (m manner) note() []string {
	if m.lasted < worthANote {
		return nil
	}
	return []string{fmt.Sprintf("gave way for %v to %s; when it took least, that was %.0f%% of what it could",
		m.lasted.Round(time.Second), cmp.Or(m.to, "other programs"), m.least*100)}
}

// gaveWay is the note for the record of what a request has done since it was last
// asked: none if it hardly gave way.
func (a *Agent) gaveWay(r *request) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	note := r.manner.note()
	r.manner = manner{}
	return note
}
