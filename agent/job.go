package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// job is what the agent knows of a job. Agent.mu guards its fields.
type job struct {
	store.Job
	history
	schedule Schedule

	from time.Time // dues until here are dealt with
	next time.Time // first due after from; zero: none
	owed time.Time // a due that is recorded as skipped or interrupted, to be run as soon as it can
	lost time.Time // the due whose run lost its target: owed when the drive went and came back

	absent     bool   // the target is missing
	looking    bool   // a goroutine asks whether it still is
	recovering bool   // a goroutine cleans up after a crash; nothing may begin
	removed    bool   // nothing may begin any more
	trouble    string // why the last run could not be recorded
}

// history is what the store tells of a job.
type history struct {
	board      store.Board
	newest     time.Time
	newestHour int
	last       *store.Run // newest run that began and ended, without its plan
	plan       *engine.Plan
	missed     int
}

// readHistory reads a job's history.
func (a *Agent) readHistory(id string) (history, error) {
	board, err := a.config.Store.Board(id)
	if err != nil {
		return history{}, err
	}
	h := history{board: board, newestHour: -1}
	began := false
	healthy := map[int]bool{} // hours of which a verification found nothing bad since
	for i, hour := range board {
		if hour.Content == string(engine.Sealed) && hour.To.After(h.newest) {
			h.newest, h.newestHour = hour.To, i
		}
	}
	for r, err := range a.config.Store.Runs(id) {
		switch {
		case err != nil:
			return history{}, err
		case r.Outcome == store.Skipped || r.Outcome == store.Missed:
			if !began && !r.Due.IsZero() {
				h.missed++
			}
			continue
		case r.Outcome == store.Running:
			began = true
			continue
		case r.Trigger == triggerVerify && (r.Cause != CauseMismatch || healthy[r.Hour]):
			healthy[r.Hour] = healthy[r.Hour] || r.Outcome == store.Done
			continue // only bytes gone bad say more of a job than its last copy does
		}
		return h, h.setLast(r)
	}
	return h, nil
}

func (h *history) setLast(r store.Run) error {
	if r.Outcome == store.Held && r.Plan != nil {
		h.plan = new(engine.Plan)
		if err := json.Unmarshal(r.Plan, h.plan); err != nil {
			return fmt.Errorf("the held list of run %s cannot be read: %w", r.ID, err)
		}
	}
	r.Plan = nil
	h.last = &r
	return nil
}

// load takes a stored job into the agent, or anew after an edit.
func (a *Agent) load(stored store.Job) error {
	h, err := a.readHistory(stored.ID)
	if err != nil {
		return err
	}
	from, owed, err := a.dealtWith(stored)
	if err != nil {
		return err
	}
	schedule, err := ParseSchedule(stored.Schedule)
	if err != nil { // a job that a rebuild took from elsewhere: shown, and run by hand
		a.log.Error("job has no schedule", "job", stored.Name, "error", err)
	}
	if stored.Disabled || a.config.ByHand {
		schedule = Schedule{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	j := &job{Job: stored, history: h, schedule: schedule, from: from, next: schedule.Next(from)}
	if schedule.spec != nil {
		j.owed = owed
	}
	if old := a.jobs[stored.ID]; old != nil {
		j.recovering, j.removed = old.recovering, old.removed
		j.absent = old.absent && old.Target == stored.Target
		if old.Schedule == stored.Schedule && old.Disabled == stored.Disabled {
			j.from, j.next, j.owed, j.lost = old.from, old.next, old.owed, old.lost
		}
	}
	a.jobs[stored.ID] = j
	return nil
}

// refresh reads a job's history again after something was recorded.
func (a *Agent) refresh(id string) {
	h, err := a.readHistory(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.publish()
	j := a.jobs[id]
	if j == nil {
		return
	}
	if err != nil {
		j.trouble = err.Error()
		a.log.Error("history cannot be read", "job", j.Name, "error", err)
		return
	}
	j.history = h
}

// dealtWith tells until when a job's dues are recorded, or do not count: those
// before the job was made, switched on or given this schedule. owed is the due
// that was skipped or interrupted and that nothing newer replaces.
func (a *Agent) dealtWith(j store.Job) (from, owed time.Time, err error) {
	now := a.now()
	from = j.Created
	var since time.Time
	if _, err := a.config.Store.Setting(settingSince(j.ID), &since); err != nil {
		return from, owed, err
	}
	if since.After(from) {
		from = since
	}
	newest, err := a.newestDue(j.ID, now)
	if err != nil {
		return from, owed, err
	}
	switch newest.Outcome {
	case store.Skipped, store.Interrupted:
		owed = newest.Due
	}
	if newest.Due.After(from) {
		from = newest.Due
	}
	return from.In(now.Location()), owed, nil
}

// newestDue is the run of the newest due until now that is recorded. Later ones
// are there if the clock was set back.
func (a *Agent) newestDue(job string, now time.Time) (newest store.Run, err error) {
	last, err := a.config.Store.LastDue(job)
	if err != nil || last.IsZero() {
		return newest, err
	}
	for r, err := range a.config.Store.Runs(job) {
		if err != nil {
			return newest, err
		}
		if r.Due.After(newest.Due) && !r.Due.After(now) {
			newest = r
		}
		if newest.Due.Equal(last) {
			break
		}
	}
	return newest, nil
}

// settingSince names the setting that says since when a job's dues count.
func settingSince(job string) string { return "dues-since/" + job }
