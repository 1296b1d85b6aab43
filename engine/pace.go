package engine

import (
	"context"
	"runtime"
	"time"

	"github.com/hourhand/hourhand/engine/governor"
	"github.com/hourhand/hourhand/engine/tree"
)

// yields is the share of their I/O that other programs may lose to a run. What is
// seen of their loss comes late at the beginning, and not whole: at 0.05 for gentle
// a neighbour kept 91 % over eight runs, so it aims lower than the twentieth meant.
var yields = map[Profile]float64{ProfileGentle: 0.03, ProfileNormal: 0.25, ProfileFull: 0}

// govern begins to watch the drives of the run.
func (r *run) govern() {
	o := governor.Options{Yield: yields[r.m.Profile], Max: r.m.Workers, Fixed: r.m.Workers > 0}
	dirs := []*tree.Dir{r.src.root}
	for _, t := range r.targets {
		dirs = append(dirs, t.root)
	}
	for _, d := range dirs {
		drive, _ := d.Drive() // of what it does not know, the zero value says nothing
		o.Drives = append(o.Drives, drive)
		r.spinning = r.spinning || drive.Medium == tree.Spinning
	}
	r.gov = governor.New(o)
	r.meter.gov.Store(r.gov)
}

// workers is how many goroutines stage files: as many as the governor could ever
// let in.
func (r *run) workers() int { return max(1, r.gov.Most()) }

// hands is how many goroutines publish a batch. Its work is renames for the most
// part, which more than a few at once do not make faster.
func (r *run) hands() int { return min(r.workers(), 8) }

// around is the step of all I/O of a run but the reading of sources.
func (r *run) around(ctx context.Context) tree.Step { return around(ctx, r.m.Gate, r.gov) }

// around lets a step of I/O pass the gate and the governor.
func around(ctx context.Context, gate *Gate, gov *governor.Governor) tree.Step {
	return func(n int, do func() error) error {
		if err := enter(ctx, gate, gov); err != nil {
			return err
		}
		began := time.Now()
		err := do()
		gov.End(int64(n), time.Since(began))
		return err
	}
}

// enter waits until both let a step pass; the governor counts it from then on.
// A pause that began while the governor let it wait still holds it.
func enter(ctx context.Context, gate *Gate, gov *governor.Governor) error {
	for {
		if err := gate.open(ctx); err != nil {
			return err
		}
		if err := gov.Begin(ctx); err != nil || !gate.Paused() {
			return err
		}
		gov.End(0, 0)
	}
}

// background makes the calling goroutine's thread give way to others, for good:
// the thread ends with the goroutine.
func background() {
	runtime.LockOSThread()
	tree.Background()
}
