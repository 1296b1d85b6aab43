package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hourhand/hourhand/store"
)

// Start runs a job now, into hour (-1: the present one), made by hand. It
// returns the run's id. ErrBusy while a run of this job is at work or waiting,
// ErrPaused during a pause.
func (a *Agent) Start(job string, hour int) (string, error) {
	r := &request{trigger: triggerHand}
	if hour != -1 {
		r.hours = []int{hour}
	}
	return a.want(job, r)
}

// Fill writes several hours (nil: all 24) from one reading of the source. It
// returns the id of the run of the first of them. Errors as Start.
func (a *Agent) Fill(job string, hours []int) (string, error) {
	if hours == nil {
		for h := range 24 {
			hours = append(hours, h)
		}
	}
	return a.want(job, &request{trigger: triggerFill, hours: hours})
}

// Verify reads hours back (nil: the newest sealed one) in the agent's queue; with
// repair, rot is healed. It returns the id of the run of the first of them. What
// it found is recorded as a run with trigger "verify". ErrBusy while a
// verification of this job is at work or waiting, ErrPaused during a pause.
func (a *Agent) Verify(job string, hours []int, repair bool) (string, error) {
	j, err := a.config.Store.Job(job)
	if err != nil {
		return "", err
	}
	h, err := a.readHistory(j.ID)
	if err != nil {
		return "", err
	}
	if hours == nil {
		if h.newestHour < 0 {
			return "", &FieldError{Field: "hour", Text: fmt.Sprintf("job %q has no sealed hour to verify yet", j.Name)}
		}
		hours = []int{h.newestHour}
	}
	if err := errors.Join(validHours(hours), written(h.board, hours)); err != nil {
		return "", err
	}
	return a.want(job, &request{trigger: triggerVerify, hours: hours, repair: repair})
}

// want puts what a person asked for into the queue.
func (a *Agent) want(job string, r *request) (string, error) {
	if a.isStopped() { // then the store may be closed
		return "", ErrStopped
	}
	stored, err := a.config.Store.Job(job)
	if err != nil {
		return "", err
	}
	if err := validHours(r.hours); err != nil {
		return "", err
	}
	if r.trigger == triggerFill && stored.Mode == modeChanges {
		return "", fmt.Errorf("job %q keeps what changes in each hour: there is nothing to fill", stored.Name)
	}
	r.job = stored.ID
	a.mu.Lock()
	defer a.mu.Unlock()
	switch j := a.jobs[stored.ID]; {
	case a.stopped:
		return "", ErrStopped
	case j == nil || j.removed:
		return "", fmt.Errorf("job %q: %w", job, store.ErrNotFound)
	case a.pause.On:
		return "", fmt.Errorf("%w: resume first", ErrPaused)
	case a.busy(stored.ID, r.verify()):
		return "", fmt.Errorf("%w: a run of %q is at work or waits already", ErrBusy, stored.Name)
	}
	a.enqueue(r)
	return r.id, nil
}

func (a *Agent) isStopped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

// written refuses hours that hold no copy: there is nothing to read back.
func written(board store.Board, hours []int) error {
	for _, h := range hours {
		if h >= 0 && h < len(board) && board[h].Content == "" {
			return &FieldError{Field: "hour", Text: fmt.Sprintf("hour %02d holds no copy yet", h)}
		}
	}
	return nil
}

func validHours(hours []int) error {
	for i, h := range hours {
		if h < 0 || h > 23 {
			return fmt.Errorf("there is no hour %d; hours go from 0 to 23", h)
		}
		if slices.Contains(hours[:i], h) {
			return fmt.Errorf("hour %02d is given twice", h)
		}
	}
	return nil
}

// busy tells whether a copy of a job, or a verification, works or waits. Call
// with mu held.
func (a *Agent) busy(job string, verify bool) bool {
	return slices.ContainsFunc(slices.Concat(a.working, a.waiting), func(r *request) bool {
		return r.job == job && r.verify() == verify
	})
}

var errCancelled = errors.New("cancelled by hand")

// Cancel stops what works or waits for a job, for all jobs if it is "". ErrNoRun.
func (a *Agent) Cancel(job string) error {
	if job != "" {
		j, err := a.config.Store.Job(job)
		if err != nil {
			return err
		}
		job = j.ID
	}
	ours := func(r *request) bool { return job == "" || r.job == job }
	a.mu.Lock()
	dropped := a.drop(ours)
	stopped := 0
	for _, r := range a.working {
		if ours(r) {
			r.cancel(errCancelled)
			stopped++
		}
	}
	a.publish()
	a.mu.Unlock()
	for _, r := range dropped {
		a.dismiss(r, store.Cancelled, CauseCancelled, "cancelled before it began")
	}
	if stopped+len(dropped) == 0 {
		return ErrNoRun
	}
	return nil
}

// Wait blocks until the run has ended and returns it. store.ErrNotFound if there
// is no such run.
func (a *Agent) Wait(ctx context.Context, run string) (store.Run, error) {
	a.mu.Lock()
	var r *request
	for id, wanted := range a.wanted {
		if run == id || strings.HasPrefix(run, id+"-") { // also a later hour of a fill
			r = wanted
		}
	}
	a.mu.Unlock()
	if r == nil {
		return a.config.Store.Run(run)
	}
	select {
	case <-r.ended:
	case <-ctx.Done():
		return store.Run{}, ctx.Err()
	}
	if r.err != nil {
		return store.Run{}, r.err
	}
	return a.config.Store.Run(run)
}
