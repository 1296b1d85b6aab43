package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourhand/hourhand/store"
)

const (
	// maxMissed bounds the records of one gap: two days of hours. What is older is
	// told by a number in the oldest record.
	maxMissed = 48

	// maxCounted bounds that number, as ten years of minutes take a while to count.
	maxCounted = 1000

	// late is when a due counts as caught up: past any delay of a busy machine.
	late = time.Minute

	// clockJump is a step of the wall clock that is worth a line in the log.
	clockJump = 5 * time.Minute
)

// due is what a tick found for one job.
type due struct {
	job   *job
	at    time.Time   // the newest
	older []time.Time // others that passed, newest first, at most maxMissed
	more  int         // those before them
}

// tick reads the wall clock and does what has become due since the last reading,
// whatever the clock did meanwhile: sleep, and steps either way.
func (a *Agent) tick() {
	a.mu.Lock()
	now := a.now()
	a.watchClock(now)
	a.mu.Unlock()
	a.endPause(now)
	for _, d := range a.newDues(now) {
		a.meet(d, now)
	}
	a.lookForTargets()
	a.catchUp()
}

// watchClock copes with a clock that was set back: dues are counted from the new
// time on, and a pause lasts as long as it was meant to. Dues that come a second
// time are known by their records. Call with mu held.
func (a *Agent) watchClock(now time.Time) {
	step := now.Sub(a.seen)
	a.seen = now
	if step > -clockJump && step < longestNap+clockJump {
		return
	}
	a.log.Info("the clock jumped, or the machine slept", "by", step.Round(time.Second))
	if step < 0 && a.pause.On {
		a.pause = a.pause.shift(step)
	}
}

// newDues takes what became due since the last tick, once.
func (a *Agent) newDues(now time.Time) []due {
	a.mu.Lock()
	defer a.mu.Unlock()
	var found []due
	for _, j := range a.jobs {
		if j.from.After(now) {
			j.from, j.next = now, j.schedule.Next(now)
		}
		if j.removed || j.next.IsZero() || j.next.After(now) {
			continue
		}
		d := due{job: j, at: j.schedule.Newest(now)}
		for t := j.schedule.Newest(d.at.Add(-1)); t.After(j.from) && d.more < maxCounted; t = j.schedule.Newest(t.Add(-1)) {
			if len(d.older) < maxMissed {
				d.older = append(d.older, t)
			} else {
				d.more++
			}
		}
		j.from, j.next = d.at, j.schedule.Next(d.at)
		found = append(found, d)
	}
	if found != nil {
		a.publish()
	}
	return found
}

// meet records the dues that passed and asks for a run for the newest.
func (a *Agent) meet(d due, now time.Time) {
	a.meetOlder(d)
	if known, err := a.config.Store.HasDue(d.job.ID, d.at); err != nil || known {
		if err != nil {
			a.log.Error("dues cannot be read", "job", d.job.Name, "error", err)
		}
		return
	}
	trigger := triggerSchedule
	if now.Sub(d.at) > late {
		trigger = triggerCatchUp
	}
	a.askFor(d.job.ID, d.at, trigger)
}

// meetOlder records the dues before the newest, oldest first.
func (a *Agent) meetOlder(d due) {
	a.mu.Lock()
	pause := a.pause
	a.mu.Unlock()
	for i, at := range slices.Backward(d.older) {
		outcome, cause, reason := store.Missed, CauseAsleep, "Hourhand was not running, or the machine slept"
		if pause.On && at.After(pause.Since) {
			outcome, cause, reason = store.Skipped, CausePaused, "paused"
		}
		if i == len(d.older)-1 && d.more > 0 {
			reason += fmt.Sprintf("; %s dues before this one passed as well", atLeast(d.more))
		}
		a.recordUnrun(d.job, at, outcome, cause, reason)
	}
}

func atLeast(n int) string {
	if n >= maxCounted {
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}

// askFor puts a run for a due into the queue; while paused, it is recorded as
// skipped and owed.
func (a *Agent) askFor(id string, at time.Time, trigger string) {
	a.mu.Lock()
	j := a.jobs[id]
	if j == nil || j.removed {
		a.mu.Unlock()
		return
	}
	if a.pause.On {
		j.owed = at
		a.mu.Unlock()
		a.recordUnrun(j, at, store.Skipped, CausePaused, "paused")
		return
	}
	replaced := a.enqueueDue(j, at, trigger)
	a.mu.Unlock()
	if replaced != nil {
		a.dismiss(replaced, store.Missed, CauseReplaced, "a run was still at work when the next one was due")
	}
}

// enqueueDue lets a due wait for its turn. One waits at most: an older one that
// it replaces is returned. Call with mu held.
func (a *Agent) enqueueDue(j *job, at time.Time, trigger string) (replaced *request) {
	j.owed = time.Time{}
	if slices.ContainsFunc(slices.Concat(a.working, a.waiting), func(r *request) bool {
		return r.job == j.ID && r.scheduled() && !r.due.Before(at)
	}) {
		return nil // the clock was set back, or a newer one has come
	}
	for _, r := range a.drop(func(r *request) bool { return r.job == j.ID && r.scheduled() }) {
		replaced = r
	}
	a.enqueue(&request{job: j.ID, due: at, trigger: trigger})
	return replaced
}

// catchUp asks for the dues that are owed and that nothing keeps any more.
func (a *Agent) catchUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, j := range a.jobs {
		if !j.owed.IsZero() && !a.pause.On && !j.absent && !j.recovering && !j.removed {
			a.enqueueDue(j, j.owed, triggerCatchUp)
		}
	}
}

// recordUnrun records a due for which nothing ran.
func (a *Agent) recordUnrun(j *job, at time.Time, outcome, cause, reason string) {
	if known, err := a.config.Store.HasDue(j.ID, at); err == nil && known {
		return
	}
	a.log.Info("run "+outcome, "job", j.Name, "due", at, "reason", reason)
	a.finish(store.Run{
		Job: j.ID, JobName: j.Name, Hour: a.hourOf(at), Due: at, Trigger: triggerSchedule,
		Outcome: outcome, Cause: cause, Reason: reason,
	}, nil, nil)
}
