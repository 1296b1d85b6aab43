package governor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// reader is a drive in the fake time of synctest, on which others read so many
// KiB a millisecond while on is set.
type reader struct {
	on    atomic.Bool
	last  time.Time
	bytes int64
	count int64
}

func (r *reader) look() counters {
	now := time.Now()
	if r.on.Load() && !r.last.IsZero() {
		n := now.Sub(r.last).Milliseconds() * 12
		r.count, r.bytes = r.count+n, r.bytes+4096*n
	}
	r.last = now
	return counters{at: now, disks: []disk{{name: "8:0", reads: r.count, readBytes: r.bytes}}}
}

// copying starts workers that do steps of 1 ms until ctx ends. It counts them.
func copying(ctx context.Context, g *Governor, workers int) (steps *atomic.Int64, wait func()) {
	steps = new(atomic.Int64)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for g.Enter(ctx) == nil {
				for range 10 {
					if g.Begin(ctx) != nil {
						break
					}
					time.Sleep(time.Millisecond)
					g.End(1<<20, time.Millisecond)
					steps.Add(1)
				}
				g.Leave()
			}
		})
	}
	return steps, all.Wait
}

func TestRunGivesWayAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others := &reader{}
		g := start(Options{Yield: 0.05, Max: 4, Fixed: true, Drives: []tree.Drive{drive, drive}}, others.look, func() {})
		ctx, cancel := context.WithCancel(t.Context())
		steps, wait := copying(ctx, g, 4)
		during := func(d time.Duration) int64 {
			before := steps.Load()
			time.Sleep(d)
			return steps.Load() - before
		}
		alone := during(5 * time.Second)
		if alone < 19000 {
			t.Errorf("got %d steps alone in 5 s, want nearly 20000", alone)
		}
		others.on.Store(true)
		time.Sleep(time.Second)
		if p := g.Pace(); p.Yielded == "" || p.Flying > 4 || p.Others < 1e7 {
			t.Errorf("got %+v a second after others came", p)
		}
		others.on.Store(false)
		time.Sleep(time.Second)
		if p := g.Pace(); p.Yielded != "" || p.Share != 1 || p.Others != 0 {
			t.Errorf("got %+v a second after others went", p)
		}
		if again := during(time.Second); again < 3800 {
			t.Errorf("got %d steps in a second after others went, want nearly 4000", again)
		}
		cancel()
		wait()
		g.Close()
	})
}

func TestPaceNamesTheDrive(t *testing.T) {
	tests := []struct {
		drives []tree.Drive
		want   string
	}{
		{[]tree.Drive{drive, drive}, "others, who read 49 MB/s from the drive of source and target"},
		{[]tree.Drive{drive, {}}, "others, who read 49 MB/s from the source's drive"},
		{[]tree.Drive{{}, drive}, "others, who read 49 MB/s from the target's drive"},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			others := &reader{}
			others.on.Store(true)
			g := start(Options{Yield: 0.05, Drives: test.drives}, others.look, func() {})
			time.Sleep(2 * time.Second)
			if got := g.Pace().Yielded; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			g.Close()
		})
	}
}

func TestFullNeverWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others := &reader{}
		others.on.Store(true)
		g := start(Options{Max: 4, Fixed: true, Drives: []tree.Drive{drive}}, others.look, func() {})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		steps, wait := copying(ctx, g, 4)
		wait()
		cancel()
		g.Close()
		if n := steps.Load(); n < 19990 {
			t.Errorf("got %d steps, want 20000", n)
		}
	})
}

func TestLongStepHoldsNobodyUpWhenOthersAreQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others := &reader{}
		g := start(Options{Yield: 0.05, Max: 4, Fixed: true, Drives: []tree.Drive{drive}}, others.look, func() {})
		if err := g.Begin(t.Context()); err != nil { // a sync
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		steps, wait := copying(ctx, g, 3)
		wait()
		cancel()
		g.End(0, 5*time.Second)
		g.Close()
		if n := steps.Load(); n < 13500 {
			t.Errorf("got %d steps beside a step of 5 s, want nearly 15000", n)
		}
	})
}

func TestNothingWaitsAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(Options{Yield: 0.05, Max: 1, Drives: []tree.Drive{drive}}, (&reader{}).look, func() {})
		for range 2 {
			go func() {
				if g.Enter(t.Context()) == nil {
					_ = g.Begin(t.Context())
				}
			}()
		}
		time.Sleep(time.Second)
		g.Close()
		synctest.Wait() // fails where a goroutine is left waiting
	})
}

func TestNilLetsEverythingPass(t *testing.T) {
	var g *Governor
	ctx, cancel := context.WithCancel(t.Context())
	if err := errors.Join(g.Enter(ctx), g.Begin(ctx)); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	g.End(1, time.Second)
	g.Leave()
	g.Close()
	cancel()
	if err := g.Begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if p := g.Pace(); p != (Pace{}) || g.Most() != 0 {
		t.Errorf("got %+v, want none", p)
	}
}
