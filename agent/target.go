package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// This file follows targets that come and go: a due that found its target
// missing is run by itself when the drive is back.

// findTarget tells that a job's target is missing: engine.ErrNoTarget. Any other
// trouble is left for the run to tell. A job that has copies, and whose target is
// an empty folder, looks at the mount point of a drive that is not connected.
func (a *Agent) findTarget(j store.Job) error {
	_, err := a.engine.target(j.Target)
	if errors.Is(err, engine.ErrNoTarget) {
		return err
	}
	if errors.Is(err, engine.ErrForeign) && a.hasCopies(j.ID) && a.engine.check(guards(j)) == nil {
		return fmt.Errorf("%w: %s is empty, but copies were made there; is the drive connected?", engine.ErrNoTarget, j.Target)
	}
	return nil
}

func (a *Agent) hasCopies(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	j := a.jobs[id]
	return j != nil && j.newestHour >= 0
}

// owe keeps a request's due, to be run as soon as it can. Call with mu held.
func (a *Agent) owe(r *request) {
	if j := a.jobs[r.job]; j != nil && r.due.After(j.owed) {
		j.owed = r.due
	}
}

// missTarget notes that a request found its target missing.
func (a *Agent) missTarget(r *request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.owe(r)
	if j := a.jobs[r.job]; j != nil {
		j.absent, j.lost = true, time.Time{}
	}
}

// loseTarget notes that a target went away during a run. Its due is owed only
// once the drive was seen to be gone: one that drops out under load and is there
// again at once would be tried for ever.
func (a *Agent) loseTarget(r *request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if j := a.jobs[r.job]; j != nil {
		j.lost = r.due
	}
}

// haveTarget notes that a run could use its target.
func (a *Agent) haveTarget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if j := a.jobs[id]; j != nil {
		j.absent, j.lost = false, time.Time{}
	}
}

// lookForTargets asks, in goroutines, whether missing targets are back. Only the
// loop calls it.
func (a *Agent) lookForTargets() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, j := range a.jobs {
		if (j.absent || !j.lost.IsZero()) && !j.looking && a.atWork(id) == nil {
			j.looking = true
			a.looks.Go(func() { a.lookForTarget(j.Job) })
		}
	}
}

func (a *Agent) lookForTarget(stored store.Job) {
	missing := a.findTarget(stored) != nil
	a.mu.Lock()
	defer a.mu.Unlock()
	j := a.jobs[stored.ID]
	if j == nil || j.Target != stored.Target {
		return
	}
	j.looking = false
	if missing && j.lost.After(j.owed) {
		j.owed, j.lost = j.lost, time.Time{}
	}
	if j.absent != missing {
		a.log.Info("target came or went", "job", j.Name, "target", j.Target, "missing", missing)
		j.absent = missing
		a.publish()
		a.nudge()
	}
}
