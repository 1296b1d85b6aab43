package main

import (
	"context"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// followEvery is how often the progress of an agent's run is asked for.
const followEvery = 500 * time.Millisecond

// follow waits until a run has ended, shows its progress meanwhile, and prints
// its report.
func (a *app) follow(ctx context.Context, b backend, run string, asJSON bool) error {
	d := a.progress(asJSON, false)
	r, err := waitShowing(ctx, b, run, d)
	d.end()
	if err != nil {
		return err
	}
	problems, err := b.Problems(run)
	if err != nil {
		return err
	}
	rep := reportOfRun(r, problems)
	if asJSON {
		if err := printJSON(a.out, rep); err != nil {
			return err
		}
	} else {
		rep.print(a.out, false)
	}
	return ended(rep.code)
}

func waitShowing(ctx context.Context, b backend, run string, d display) (store.Run, error) {
	type result struct {
		run store.Run
		err error
	}
	done := make(chan result, 1)
	go func() { // ends with the run, or with ctx
		r, err := b.Wait(ctx, run)
		done <- result{r, err}
	}()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-done:
			return r.run, r.err
		case <-tick.C:
			if p, ok := progressOf(b, run); ok {
				d.show(p)
			}
		}
	}
}

// progressOf is how far a run is, if it is at work.
func progressOf(b backend, run string) (engine.Progress, bool) {
	s, err := b.Status()
	if err != nil {
		return engine.Progress{}, false // Wait tells the error
	}
	for _, j := range s.Jobs {
		if j.Run != nil && j.Run.ID == run {
			return j.Run.Progress, true
		}
	}
	return engine.Progress{}, false
}
