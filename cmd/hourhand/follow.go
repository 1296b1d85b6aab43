package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// followEvery is how often the progress of an agent's run is asked for.
const followEvery = 500 * time.Millisecond

// follow waits until a run has ended, shows its progress meanwhile, and prints
// a report for each hour that it was for.
func (a *app) follow(ctx context.Context, b backend, run string, asJSON bool) error {
	d := a.progress(asJSON, false)
	first, err := waitShowing(ctx, b, run, d)
	d.end()
	if err != nil {
		return err
	}
	runs, err := recordsOf(b, first)
	if err != nil {
		return err
	}
	total := codeDone
	for _, r := range runs {
		problems, err := b.Problems(r.ID)
		if err != nil {
			return err
		}
		rep := reportOfRun(r, problems)
		total = worst(total, rep.code)
		if !asJSON {
			rep.print(a.out, false)
		} else if err := printJSON(a.out, rep); err != nil {
			return err
		}
	}
	return ended(total)
}

// recordsOf are the records of one run for several hours, in the order of the
// hours: the further ones have the first one's id and their hour as theirs.
func recordsOf(b backend, first store.Run) ([]store.Run, error) {
	newest, err := b.History(first.Job, 2*24) // a copy of all hours, and a verification beside it
	if err != nil {
		return nil, err
	}
	runs := []store.Run{first}
	for _, r := range slices.Backward(newest) {
		if strings.HasPrefix(r.ID, first.ID+"-") {
			runs = append(runs, r)
		}
	}
	return runs, nil
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
