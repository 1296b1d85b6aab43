// Package agent decides when: it turns schedules into due times, keeps the
// queue, pauses, catches up after sleep, and tells everyone the state. What a
// run does is package engine's; what is remembered is package store's.
package agent

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

var (
	ErrBusy      = errors.New("busy")           // a run of this job is at work
	ErrNoRun     = errors.New("no run at work") // nothing to cancel
	ErrNotHeld   = errors.New("nothing waits for approval")
	ErrOtherPlan = errors.New("the list has changed since it was shown")
)

// Config of New.
type Config struct {
	Store   *store.Store
	Scratch string           // folder for spilled lists
	Log     *slog.Logger     // nil: discard
	Now     func() time.Time // nil: time.Now; the wall clock
	Version string
	ByHand  bool // no schedules and no catch-up: a command works without a running agent
}

// State in a word, for badge, tray icon and tab title. Order of rank: the worst
// job decides the whole.
type State string

const (
	Idle      State = "idle"
	Running   State = "running"
	Verifying State = "verifying"
	Pausing   State = "pausing"
	Paused    State = "paused"
	Waiting   State = "waiting" // another job runs on its drives, battery low
	Failed    State = "failed"
	Partial   State = "partial"
	Held      State = "held"
	Never     State = "never"    // never ran
	NoDrive   State = "no-drive" // target missing
	NoSource  State = "no-source"
)

// Status is a snapshot of all. It is a value: nobody may change what its slices
// share.
type Status struct {
	Version string      `json:"version"`
	Now     time.Time   `json:"now"`
	State   State       `json:"state"`
	Jobs    []JobStatus `json:"jobs"`
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
	Speeds   []float64       `json:"speeds"` // bytes/s of the last 60 seconds, oldest first
}

// Agent runs jobs by their schedules. Its methods may be called from any
// goroutine once New returned.
type Agent struct{}

func New(c Config) (*Agent, error) { panic("stub") }

// Run works until ctx ends, then stops gracefully: a run at work is cancelled
// and recorded.
func (a *Agent) Run(ctx context.Context) error { panic("stub") }

// Status is the present snapshot.
func (a *Agent) Status() Status { panic("stub") }

// Watch yields the present snapshot and then each newer one, the latest always;
// a slow reader misses those in between. It ends with ctx.
func (a *Agent) Watch(ctx context.Context) iter.Seq[Status] { panic("stub") }

// Start runs a job now, into hour (-1: the present one), made by hand. It
// returns the run's id. ErrBusy while a run of this job is at work or waiting.
func (a *Agent) Start(job string, hour int) (string, error) { panic("stub") }

// Fill writes several hours (nil: all 24) from one reading of the source.
func (a *Agent) Fill(job string, hours []int) (string, error) { panic("stub") }

// Approve lets the held run's plan pass and starts the job again for the same
// hour. plan "": the one that waits. ErrNotHeld, ErrOtherPlan.
func (a *Agent) Approve(job, plan string) (string, error) { panic("stub") }

// Cancel stops the run at work of a job, of all jobs for "". ErrNoRun.
func (a *Agent) Cancel(job string) error { panic("stub") }

// Pause stops all I/O within 200 ms, in the middle of a file, until the given
// time (zero: until resumed). Dues meanwhile are recorded as skipped. It
// survives a restart.
func (a *Agent) Pause(until time.Time) error { panic("stub") }

// Resume ends a pause; the newest due skipped by it is run at once.
func (a *Agent) Resume() error { panic("stub") }

// Verify reads hours back (nil: the newest sealed one) in the agent's queue.
func (a *Agent) Verify(job string, hours []int, repair bool) (string, error) { panic("stub") }

// Wait blocks until the run has ended and returns it.
func (a *Agent) Wait(ctx context.Context, run string) (store.Run, error) { panic("stub") }

// SaveJob adds or edits a job (ID "" adds) after checking it: source and target
// exist or can be made, do not overlap, are not another job's; schedule and
// flags parse. It marks a new target. The warnings are for a person ("24 copies
// of 22 GB will not fit").
func (a *Agent) SaveJob(j store.Job) (saved store.Job, warnings []string, err error) { panic("stub") }

// RemoveJob forgets a job; its folders stay. A run at work is cancelled first.
func (a *Agent) RemoveJob(job string) error { panic("stub") }

// FieldError is a job's field that cannot be accepted, with the sentence for
// the form.
type FieldError struct {
	Field string // "name", "source", "target", "schedule", ...
	Text  string
}

func (e *FieldError) Error() string { return e.Text }
