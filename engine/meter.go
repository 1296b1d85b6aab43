package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourhand/hourhand/engine/governor"
)

// meter counts a run's progress. Workers add to atomics; one goroutine makes a
// snapshot of them four times a second, so that nobody waits for a watcher.
type meter struct {
	gate     *Gate
	gov      atomic.Pointer[governor.Governor]
	ready    atomic.Pointer[[]*dest] // the destinations, once they are open
	started  time.Time
	files    atomic.Int64 // found
	bytes    atomic.Int64
	copyAll  atomic.Int64 // bytes that are to be copied
	copied   atomic.Int64
	problems atomic.Int64
	known    atomic.Bool
	phase    atomic.Pointer[string]
	current  atomic.Pointer[string]

	mu      sync.Mutex
	samples []sample // of the last seconds
}

type sample struct {
	at     time.Time
	copied int64
}

// interval of snapshots: a person sees no more (web.md 5), and a stuck reader
// must not cost much.
const interval = 250 * time.Millisecond

// speedWindow is the time over which speed is averaged: short enough to show a
// stall, long enough not to flicker.
const speedWindow = 5 * time.Second

func newMeter(g *Gate, now time.Time) *meter {
	m := &meter{gate: g, started: now}
	m.enter("scanning")
	return m
}

func (m *meter) enter(phase string) { m.phase.Store(&phase) }
func (m *meter) at(path string)     { m.current.Store(&path) }

// expect sets totals that are known from the start.
func (m *meter) expect(c Count) {
	m.files.Store(c.Files)
	m.bytes.Store(c.Bytes)
	m.copyAll.Store(c.Bytes)
	m.known.Store(true)
}

func (m *meter) found(n int64) {
	m.files.Add(1)
	m.bytes.Add(n)
}

// watch hands snapshots to notify until stop is called, and a last one then.
func (m *meter) watch(notify func(Progress)) (stop func()) {
	if notify == nil {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				notify(m.snapshot())
			case <-end:
				notify(m.snapshot())
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

func (m *meter) snapshot() Progress {
	p := Progress{
		Phase: *m.phase.Load(), Paused: m.gate != nil && m.gate.Paused(), Started: m.started,
		FilesTotal: m.files.Load(), BytesTotal: m.bytes.Load(),
		CopyDone: m.copied.Load(), CopyTotal: m.copyAll.Load(), TotalsKnown: m.known.Load(), Problems: m.problems.Load(),
	}
	if c := m.current.Load(); c != nil {
		p.Current = *c
	}
	p.Pace = m.gov.Load().Pace()
	p.FilesDone, p.BytesDone = m.done()
	p.Speed = m.speed(time.Now(), p.CopyDone)
	return p
}

// done is what the copies hold by now, in the mean of the destinations.
func (m *meter) done() (files, bytes int64) {
	ready := m.ready.Load()
	if ready == nil || len(*ready) == 0 {
		return 0, 0
	}
	for _, d := range *ready {
		files += d.settledN.Load()
		bytes += d.settledB.Load()
	}
	n := int64(len(*ready))
	return files / n, bytes / n
}

// speed is the mean over the window.
func (m *meter) speed(now time.Time, copied int64) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples = append(m.samples, sample{now, copied})
	for len(m.samples) > 2 && now.Sub(m.samples[0].at) > speedWindow {
		m.samples = m.samples[1:]
	}
	first := m.samples[0]
	if d := now.Sub(first.at).Seconds(); d > 0 {
		return float64(copied-first.copied) / d
	}
	return 0
}
