package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// Triggers of a run, as store.Run tells them.
const (
	triggerSchedule = "schedule"
	triggerCatchUp  = "catch-up"
	triggerHand     = "hand"
	triggerFill     = "fill"
	triggerApprove  = "approve"
	triggerVerify   = "verify" // no copy: an hour read back
)

// request is a run that is wanted: it waits, works and ends.
type request struct {
	id      string
	job     string // id
	hours   []int  // nil: the hour of its due; without due, of its beginning
	due     time.Time
	trigger string
	repair  bool   // of a verification
	plan    string // id of an approved plan, set when it begins

	gate  engine.Gate
	ended chan struct{} // closed when it is recorded
	err   error         // why it could not be recorded; set before ended is closed

	// Agent.mu guards what follows.
	drives []string // of source and target; nil: not known yet
	asked  bool     // a goroutine asks for the drives
	cancel context.CancelCauseFunc
	status RunStatus // while it works
	speed  speedometer
}

// scheduled tells that a due made this request, not a person.
func (r *request) scheduled() bool {
	return r.trigger == triggerSchedule || r.trigger == triggerCatchUp
}

func (r *request) verify() bool { return r.trigger == triggerVerify }

// enqueue lets a request wait for its turn. Call with mu held.
func (a *Agent) enqueue(r *request) {
	r.id, r.ended = newRunID(a.now()), make(chan struct{})
	a.waiting = append(a.waiting, r)
	a.wanted[r.id] = r
	a.publish()
	a.nudge()
}

// end tells those who wait for a request that it is recorded, or why it could
// not be.
func (a *Agent) end(r *request, err error) {
	r.err = err
	close(r.ended)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.wanted, r.id)
}

// drop takes requests out of the queue. Call with mu held.
func (a *Agent) drop(which func(*request) bool) (dropped []*request) {
	a.waiting = slices.DeleteFunc(a.waiting, func(r *request) bool {
		if which(r) {
			dropped = append(dropped, r)
			return true
		}
		return false
	})
	return dropped
}

// dismiss records a request that was taken out of the queue.
func (a *Agent) dismiss(r *request, outcome, cause, reason string) {
	a.end(r, a.recordUnbegun(r, outcome, cause, reason))
}

// atWork is the request of a job that works, nil if none. Call with mu held.
func (a *Agent) atWork(job string) *request {
	for _, r := range a.working {
		if r.job == job {
			return r
		}
	}
	return nil
}

// dispatch begins the requests whose drives are free, in order of arrival: one
// that must wait holds back later ones for the same drives.
func (a *Agent) dispatch(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range slices.Clone(a.waiting) {
		j := a.jobs[r.job]
		switch {
		case a.pause.On || a.stopped || j == nil || j.removed || j.recovering:
		case r.drives == nil:
			a.askForDrives(r, j.Job)
		case a.blocker(r) == "":
			a.begin(ctx, r, j.Job)
		}
	}
}

// blocker names the job that a waiting request waits for, "" if it may begin.
// Call with mu held.
func (a *Agent) blocker(r *request) string {
	before := a.waiting[:slices.Index(a.waiting, r)]
	for _, other := range slices.Concat(a.working, before) {
		if other.drives != nil && r.drives != nil && share(r.drives, other.drives) {
			return a.jobs[other.job].Name
		}
	}
	return ""
}

// share tells whether two runs use the same drive. A drive that is not known ("")
// may be any.
func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(drive string) bool {
		return drive == "" || slices.Contains(b, drive) || slices.Contains(b, "")
	})
}

// askForDrives looks at a job's drives in a goroutine: a dead network drive may
// take minutes to answer. Call with mu held.
func (a *Agent) askForDrives(r *request, j store.Job) {
	if r.asked {
		return
	}
	r.asked = true
	a.looks.Go(func() {
		var drives []string
		for _, path := range []string{j.Source, j.Target} {
			d, _ := a.engine.drive(path) // an error leaves it unknown: it waits for all
			drives = append(drives, d.ID)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		r.drives = drives
		a.nudge()
	})
}

// begin starts the goroutine of a request. Call with mu held.
func (a *Agent) begin(ctx context.Context, r *request, j store.Job) {
	a.drop(func(other *request) bool { return other == r })
	ctx, r.cancel = context.WithCancelCause(ctx)
	if r.hours == nil {
		r.hours = []int{a.firstHour(r)}
	}
	r.status = RunStatus{ID: r.id, Hours: r.hours, Due: r.due, Trigger: r.trigger, Verify: r.verify(), Speeds: []float64{}}
	a.working = append(a.working, r)
	a.publish()
	a.runs.Go(func() {
		err := a.execute(ctx, r, j)
		r.cancel(nil)
		a.mu.Lock()
		a.working = slices.DeleteFunc(a.working, func(other *request) bool { return other == r })
		a.publish()
		a.mu.Unlock()
		a.end(r, err)
		a.nudge()
	})
}

// firstHour is the hour that a request writes, or the first of several.
func (a *Agent) firstHour(r *request) int {
	switch {
	case len(r.hours) > 0:
		return r.hours[0]
	case !r.due.IsZero():
		return a.hourOf(r.due)
	}
	return a.now().Hour()
}

// hourOf is the local hour of a due: its folder.
func (a *Agent) hourOf(due time.Time) int { return due.In(a.now().Location()).Hour() }

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
	if hours == nil {
		j, err := a.config.Store.Job(job)
		if err != nil {
			return "", err
		}
		h, err := a.readHistory(j.ID)
		if err != nil {
			return "", err
		}
		if h.newestHour < 0 {
			return "", fmt.Errorf("job %q has no sealed hour to verify yet", j.Name)
		}
		hours = []int{h.newestHour}
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
