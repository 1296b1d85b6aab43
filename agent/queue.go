package agent

import (
	"context"
	"slices"
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
	minute minute
	manner manner
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
	r.status = RunStatus{ID: r.id, Hours: r.hours, Due: r.due, Trigger: r.trigger, Verify: r.verify(), Speeds: []float64{}, Shares: []float64{}}
	if !r.verify() {
		r.status.Profile, r.status.Limit = profileOf(j, r), j.Limit
	}
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
