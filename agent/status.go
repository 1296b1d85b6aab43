package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// State in a word, for badge, tray icon and tab title.
type State string

const (
	Idle      State = "idle"
	Running   State = "running"
	Verifying State = "verifying"
	Pausing   State = "pausing" // asked to pause, not yet confirmed by the run
	Paused    State = "paused"
	Waiting   State = "waiting" // another job runs on its drives
	Failed    State = "failed"
	Partial   State = "partial"
	Held      State = "held"
	Never     State = "never"    // never ran
	NoDrive   State = "no-drive" // target missing
	NoSource  State = "no-source"
)

// worse ranks states: the worst job's state is that of the whole. Trouble
// outranks work, so that a run of one job does not hide that another failed.
var worse = []State{Idle, Never, Waiting, Verifying, Running, Paused, Pausing, Partial, NoDrive, NoSource, Held, Failed}

// Status is a snapshot of all. It is a value: nobody may change what its slices
// share.
type Status struct {
	Version string      `json:"version"`
	Now     time.Time   `json:"now"`
	State   State       `json:"state"` // paused while a pause is on, else the worst of the jobs
	Jobs    []JobStatus `json:"jobs"`  // by name
	Pause   Pause       `json:"pause"`
	Newest  time.Time   `json:"newest,omitzero"`  // newest sealed hour of all jobs: when its source was read to the end
	Next    time.Time   `json:"next,omitzero"`    // next due of all jobs
	Notice  string      `json:"notice,omitempty"` // about the data folder: rebuilt, address changed
}

// Pause tells whether and until when nothing runs.
type Pause struct {
	On    bool      `json:"on"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"` // zero: until resumed
}

// JobStatus is one job's part of a Status.
type JobStatus struct {
	Job        store.Job    `json:"job"`
	State      State        `json:"state"`
	Reason     string       `json:"reason,omitempty"` // one sentence: why failed, held, waiting
	Cause      string       `json:"cause,omitempty"`
	Board      store.Board  `json:"board"`
	Newest     time.Time    `json:"newest,omitzero"`  // when the newest sealed hour's source was read to the end
	NewestHour int          `json:"newest_hour"`      // -1: none
	Next       time.Time    `json:"next,omitzero"`    // next due
	Run        *RunStatus   `json:"run,omitempty"`    // at work now
	Last       *store.Run   `json:"last,omitempty"`   // newest run that began
	Missed     int          `json:"missed,omitempty"` // dues missed or skipped since the last run that began
	Plan       *engine.Plan `json:"plan,omitempty"`   // of the held run
}

// RunStatus is a run at work.
type RunStatus struct {
	ID       string          `json:"id"`
	Hours    []int           `json:"hours"` // one, or several of a fill
	Due      time.Time       `json:"due,omitzero"`
	Trigger  string          `json:"trigger"`
	Verify   bool            `json:"verify,omitempty"` // a verification, not a copy
	Progress engine.Progress `json:"progress"`
	Speeds   []float64       `json:"speeds"`            // bytes/s of the last 60 seconds, oldest first
	Shares   []float64       `json:"shares"`            // what it took in each of them of what it could; see GivesWay
	Profile  string          `json:"profile,omitempty"` // "gentle", "normal", "full"; "" for a verification
	Limit    int64           `json:"limit,omitempty"`   // bytes/s that it may read at most; 0: no limit
}

// GivesWay tells whether a share of what a run could take is so small that it
// gives way to others. A governor that feels its way always moves by some
// percent: only what a person would notice counts, a tenth. A share of 0 is that
// of a run without a governor.
func GivesWay(share float64) bool { return share > 0 && share < 0.9 }

// picture makes a Status of what the agent knows. Call with mu held.
func (a *Agent) picture() Status {
	s := Status{Version: a.config.Version, Now: a.now(), State: Idle, Pause: a.pause, Notice: a.notice, Jobs: []JobStatus{}}
	for _, j := range a.jobs {
		js := a.pictureOf(j)
		s.Jobs = append(s.Jobs, js)
		if slices.Index(worse, js.State) > slices.Index(worse, s.State) {
			s.State = js.State
		}
		if js.Newest.After(s.Newest) {
			s.Newest = js.Newest
		}
		if !js.Next.IsZero() && (s.Next.IsZero() || js.Next.Before(s.Next)) {
			s.Next = js.Next
		}
	}
	if s.Pause.On {
		s.State = Paused
		if slices.ContainsFunc(s.Jobs, func(j JobStatus) bool { return j.State == Pausing }) {
			s.State = Pausing
		}
	}
	slices.SortFunc(s.Jobs, func(x, y JobStatus) int {
		return cmp.Or(strings.Compare(strings.ToLower(x.Job.Name), strings.ToLower(y.Job.Name)), strings.Compare(x.Job.ID, y.Job.ID))
	})
	return s
}

func (a *Agent) pictureOf(j *job) JobStatus {
	js := JobStatus{
		Job: j.Job, Board: j.board, Newest: j.newest, NewestHour: j.newestHour,
		Next: j.next, Last: j.last, Missed: j.missed, Plan: j.plan,
	}
	f := facts{paused: a.pause.On, absent: j.absent, trouble: j.trouble, sealed: j.newestHour >= 0, last: j.last, target: j.Target}
	if r := a.atWork(j.ID); r != nil {
		run := r.status
		js.Run, f.run = &run, &run
	} else if i := slices.IndexFunc(a.waiting, func(r *request) bool { return r.job == j.ID }); i >= 0 {
		f.waits, f.blocker = true, a.blocker(a.waiting[i])
	}
	js.State, js.Reason, js.Cause = f.state()
	return js
}

// facts are what decides a job's state.
type facts struct {
	run     *RunStatus // at work
	waits   bool       // a run is wanted and has not begun
	blocker string     // name of the job that it waits for
	paused  bool
	absent  bool   // the target is missing
	target  string // its path
	trouble string // ours: what kept the last run from being recorded
	sealed  bool   // some hour is sealed
	last    *store.Run
}

// state puts a job's facts into a word, a sentence and a key for hints.
func (f facts) state() (State, string, string) {
	switch {
	case f.run != nil && f.paused && !f.run.Progress.Paused:
		return Pausing, "", ""
	case f.run != nil && f.paused:
		return Paused, "", ""
	case f.run != nil && f.run.Verify:
		return Verifying, "", ""
	case f.run != nil:
		return Running, "", ""
	case f.waits && f.blocker != "":
		return Waiting, fmt.Sprintf("waits for %q, which works on the same drive", f.blocker), ""
	case f.waits && !f.paused:
		return Waiting, "is about to begin", ""
	case f.trouble != "":
		return Failed, f.trouble, CauseOther
	case f.absent:
		return NoDrive, fmt.Sprintf("target is missing: %s; connect its drive and it goes on by itself", f.target), CauseNoTarget
	}
	if s, ok := verdict(f.last); ok {
		return s, f.last.Reason, f.last.Cause
	}
	switch {
	case f.paused:
		return Paused, "", ""
	case !f.sealed:
		return Never, "", ""
	}
	return Idle, "", ""
}

// verdict is what the last run says of its job; false: nothing that needs a person.
func verdict(last *store.Run) (State, bool) {
	if last == nil {
		return "", false
	}
	switch last.Outcome {
	case store.Failed:
		if last.Cause == CauseNoSource {
			return NoSource, true
		}
		return Failed, true
	case store.Partial:
		return Partial, true
	case store.Held:
		return Held, true
	}
	return "", false
}
