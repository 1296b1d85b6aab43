// Package governor lets a run take from its drives what nobody else wants. It
// stands in place of a thread count: it lets more work into flight while that
// gains speed, and holds the run back as far as other programs would feel it.
//
// A caller asks in two places. Enter and Leave stand around the work on one file
// and bound how many files are in work at once: few on a disk that seeks, many
// where each call is a message over a network. Begin and End stand around each
// step of I/O in it and let the run rest for the sake of others. Neither may be
// nested in itself, and no step may wait for another one.
//
// What others do is seen in the counters of the drives, where the system has
// them (Linux, Windows), and else guessed from the latency of the own steps.
package governor

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// Options say what is governed. The zero value of each field works.
type Options struct {
	// Yield is the share of their I/O that other programs may lose to us, at
	// most; 0 never yields.
	Yield float64
	// Max bounds the files in work at once; 0: by the drives, at most 32.
	Max int
	// Fixed keeps Max files in work, without tuning. It still yields.
	Fixed  bool
	Drives []tree.Drive // the source's first, then the targets'
}

// Governor is made by New. Its methods may be called from any goroutine, and on
// nil, which lets everything pass.
type Governor struct {
	drives []tree.Drive
	files  slots // files in work
	steps  slots // steps of I/O in flight
	law    law   // used by watch alone
	look   func() counters
	sight  sight

	bytes, count, nanos atomic.Int64 // of the steps since the last window
	pace                atomic.Pointer[Pace]

	stop  context.CancelFunc
	ended chan struct{}
}

// Pace is what is allowed at the moment. The zero value is that of a run without
// a governor: it takes what it can.
type Pace struct {
	Share   float64 `json:"share"`   // of the time in which steps may go, above 0 to 1; 0: no governor
	Flying  int     `json:"flying"`  // steps, or where nothing is held back files, that may be in work at once; 0: no governor
	Others  float64 `json:"others"`  // bytes/s that others move on the drives while we yield to them; 0: nobody, or not known
	Yielded string  `json:"yielded"` // to whom, as a sentence's end: "others, who read 48 MB/s from the source's drive"; "" to nobody
}

// New starts to watch the drives; Close ends it.
func New(o Options) *Governor {
	p := newProbe(o.Drives)
	return start(o, p.read, p.close)
}

// start is New with counters of one's own; done is called when they are not
// needed any more.
func start(o Options, look func() counters, done func()) *Governor {
	ctx, stop := context.WithCancel(context.Background())
	g := &Governor{drives: o.Drives, law: newLaw(o), look: look, stop: stop, ended: make(chan struct{})}
	g.tell()
	go func() {
		defer close(g.ended)
		defer done()
		g.watch(ctx)
	}()
	return g
}

// Close stops the watch and opens all gates.
func (g *Governor) Close() {
	if g == nil {
		return
	}
	g.stop()
	<-g.ended
}

// Most is how many files could ever be let into work at once, so how many
// workers have a use. 0 on nil.
func (g *Governor) Most() int {
	if g == nil {
		return 0
	}
	return g.law.tune.most
}

// Enter waits until one more file may be taken into work; Leave ends that. The
// only error is that of ctx, and then Leave is not to be called.
func (g *Governor) Enter(ctx context.Context) error {
	if g == nil {
		return ctx.Err()
	}
	return g.files.take(ctx)
}

// Leave says that the work on a file ended.
func (g *Governor) Leave() {
	if g != nil {
		g.files.give()
	}
}

// Begin waits until one step of I/O may go: a reading or writing of at most 1
// MiB, the calls for one small file, a sync. The only error is that of ctx, and
// then End is not to be called.
func (g *Governor) Begin(ctx context.Context) error {
	if g == nil {
		return ctx.Err()
	}
	return g.steps.take(ctx)
}

// End says that a step ended, how many bytes it moved and how long it took from
// the return of Begin.
func (g *Governor) End(n int64, took time.Duration) {
	if g == nil {
		return
	}
	g.bytes.Add(n)
	g.count.Add(1)
	g.nanos.Add(int64(took))
	g.steps.give()
}

// Pace tells what is allowed at the moment. It is cheap. The zero value on nil.
func (g *Governor) Pace() Pace {
	if g == nil {
		return Pace{}
	}
	return *g.pace.Load()
}

// unbounded: as many steps as there are callers.
const unbounded = 1 << 30

// patience is how long a look at others may wait for the own steps in flight
// before it is given up: a sync takes longer, and nobody shall wait for it.
const patience = 20 * time.Millisecond

// watch alternates work and rest as the law has it, until ctx ends.
func (g *Governor) watch(ctx context.Context) {
	defer func() {
		g.steps.resize(unbounded)
		g.files.resize(unbounded)
	}()
	g.window(false)
	m := g.law.first()
	for ctx.Err() == nil {
		g.allow(m)
		c := g.cycle(ctx, m)
		m = g.law.next(c)
		g.tell()
	}
}

func (g *Governor) allow(m move) {
	g.steps.resize(m.flying)
	g.files.resize(m.files)
}

// cycle lets the run work, then rest, and tells what both were like.
func (g *Governor) cycle(ctx context.Context, m move) cycle {
	sleep(ctx, m.work)
	if m.rest > 0 && !g.drain(ctx, m.look) {
		return cycle{work: g.window(false), missed: true}
	}
	c := cycle{work: g.window(false)}
	if m.rest > 0 {
		sleep(ctx, m.rest)
		c.rest = g.window(true)
	}
	return c
}

// drain closes the gate and waits for the steps in flight.
func (g *Governor) drain(ctx context.Context, look bool) bool {
	g.steps.resize(0)
	limit := longestRest
	if look {
		limit = patience
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return g.steps.drained(ctx)
}

// window is what happened since the last call.
func (g *Governor) window(rest bool) window {
	w := g.sight.since(g.look(), rest)
	w.mine = work{g.bytes.Swap(0), g.count.Swap(0), time.Duration(g.nanos.Swap(0))}
	w.files = g.files.peak()
	return w
}

// tell makes the law's state what Pace says.
func (g *Governor) tell() {
	p := Pace{Share: g.law.share, Flying: g.law.tune.level}
	if g.law.yielding() {
		p.Flying, p.Others, p.Yielded = g.law.flying, g.sight.rate(), g.whom()
	}
	g.pace.Store(&p)
}

// whom words the reason for yielding.
func (g *Governor) whom() string {
	reads, writes, disk := g.sight.most()
	switch {
	case g.law.pressed.high:
		return "others, who run short of memory"
	case reads+writes == 0:
		return "others, who make the drive slower"
	case writes > reads:
		return fmt.Sprintf("others, who write %s/s to %s", megabytes(writes), g.driveOf(disk))
	}
	return fmt.Sprintf("others, who read %s/s from %s", megabytes(reads), g.driveOf(disk))
}

func megabytes(n float64) string {
	if n < 10e6 {
		return fmt.Sprintf("%.1f MB", n/1e6)
	}
	return fmt.Sprintf("%.0f MB", n/1e6)
}

// driveOf names the drive by its part in the run.
func (g *Governor) driveOf(disk string) string {
	of := tree.Drive{Disks: []string{disk}}
	source, target := false, false
	for i, d := range g.drives {
		if d.Shares(of) {
			source, target = source || i == 0, target || i > 0
		}
	}
	switch {
	case source && target:
		return "the drive of source and target"
	case source:
		return "the source's drive"
	}
	return "the target's drive"
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
