package agent

import (
	"errors"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// recoverTargets cleans up what a crash left on each target, in goroutines: a
// drive may take its time. Until then nothing begins for the job.
func (a *Agent) recoverTargets() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, j := range a.jobs {
		j.recovering = true
		a.looks.Go(func() { a.recoverTarget(j.Job) })
	}
}

func (a *Agent) recoverTarget(stored store.Job) {
	missing := a.findTarget(stored) != nil
	if !missing && !a.isStopped() {
		err := errors.Join(a.engine.recover(stored.Target), a.readBoard(stored))
		if err != nil && !errors.Is(err, engine.ErrForeign) { // the next run tells about that
			a.log.Error("target cannot be cleaned up", "job", stored.Name, "target", stored.Target, "error", err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if j := a.jobs[stored.ID]; j != nil {
		j.recovering, j.absent = false, missing
	}
	a.publish()
	a.nudge()
}

// readBoard takes over from the target what its hours hold: after a crash the
// store may still call an hour sealed that a run was at work on.
func (a *Agent) readBoard(j store.Job) error {
	states, err := a.engine.hours(j.Target)
	if err != nil {
		return err
	}
	board, err := a.config.Store.Board(j.ID)
	if err != nil {
		return err
	}
	for hour, before := range board {
		now := fieldOf(states[hour], before)
		if now.Content != before.Content || now.SealedBy != before.SealedBy || !now.To.Equal(before.To) || !now.Oldest.Equal(before.Oldest) {
			err = errors.Join(err, a.config.Store.SetHour(j.ID, hour, now))
		}
	}
	a.refresh(j.ID)
	return err
}

// fieldOf is the board's field for an hour's state, with the last run of before.
func fieldOf(st engine.State, before store.Hour) store.Hour {
	h := hourOf(st, before.SealedBy)
	h.LastRun, h.Outcome, h.At = before.LastRun, before.Outcome, before.At
	return h
}
