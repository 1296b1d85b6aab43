// Package store keeps jobs, runs, the board of 24 hours, the file index and the
// settings in one bbolt file. The file lock of the database is the
// single-instance lock of the agent. The database is never needed to read a
// copy: a damaged one is put aside and built anew from jobs.json and from what
// the targets themselves say.
package store

import (
	"encoding/json"
	"errors"
	"time"
)

var (
	ErrNotFound = errors.New("not found")
	ErrLocked   = errors.New("another Hourhand uses this data folder")
	ErrNewer    = errors.New("this data folder belongs to a newer Hourhand")
)

// Job is what is copied, from where, to where, when and how.
type Job struct {
	ID                string    `json:"id"`   // random, for ever
	Name              string    `json:"name"` // unique, shown everywhere; letters, digits, blank, - _ .
	Source            string    `json:"source"`
	Target            string    `json:"target"`
	Mode              string    `json:"mode"`            // "mirror" or "changes"
	Schedule          string    `json:"schedule"`        // cron, five fields, local time; "" = only by hand
	Keep              string    `json:"keep,omitempty"`  // mode changes: Go duration or "2d"
	Verify            string    `json:"verify"`          // "full", "source", "none"
	Profile           string    `json:"profile"`         // "gentle", "normal", "full"
	Limit             int64     `json:"limit,omitempty"` // bytes/s, 0 = none
	Workers           int       `json:"workers,omitempty"`
	Retries           int       `json:"retries"`
	RetryWait         string    `json:"retry_wait,omitempty"`
	MaxDelete         string    `json:"max_delete,omitempty"` // "N" or "P%"; "" = the default
	Excludes          []string  `json:"excludes,omitempty"`
	NoDefaultExcludes bool      `json:"no_default_excludes,omitempty"`
	DeleteExcluded    bool      `json:"delete_excluded,omitempty"`
	Checksum          bool      `json:"checksum,omitempty"`
	TrustIndex        bool      `json:"trust_index,omitempty"`
	Disabled          bool      `json:"disabled,omitempty"`
	Created           time.Time `json:"created"`
}

// Outcomes of a run.
const (
	Running     = "running" // begun and not ended
	Done        = "done"
	Partial     = "partial"
	Held        = "held"
	Failed      = "failed"
	Cancelled   = "cancelled"
	Skipped     = "skipped"     // not started, with the reason
	Missed      = "missed"      // its due passed unrun
	Interrupted = "interrupted" // process or machine died
)

// Count is a number of files and their bytes.
type Count struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Problem is trouble with one file.
type Problem struct {
	Path  string `json:"path"`
	Error string `json:"error"`
	Cause string `json:"cause,omitempty"`
}

// Run is one execution of a job, or one that did not happen (skipped, missed).
// The JSON is what `history --json` prints for it.
type Run struct {
	ID      string    `json:"id"`  // sorts by time of beginning
	Job     string    `json:"job"` // job id
	JobName string    `json:"job_name"`
	Hour    int       `json:"hour"`         // -1: a one-shot
	Due     time.Time `json:"due,omitzero"` // zero: made by hand
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	Trigger string    `json:"trigger"` // "schedule", "catch-up", "hand", "fill", "approve"
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // why it was held, skipped, failed ...: a sentence
	Cause   string    `json:"cause,omitempty"`  // short key of the reason, for hints

	Copied       Count           `json:"copied"`
	Updated      Count           `json:"updated"`
	Removed      Count           `json:"removed"`
	Moved        Count           `json:"moved"`
	Unchanged    Count           `json:"unchanged"`
	LeftOut      LeftOut         `json:"left_out"`
	Verified     Verified        `json:"verified"`
	ProblemCount int64           `json:"problem_count"`
	Notes        []string        `json:"notes,omitempty"`
	Plan         json.RawMessage `json:"plan,omitempty"` // of a held run: engine.Plan
	Sealed       bool            `json:"sealed"`
	Changed      bool            `json:"changed"`
}

// LeftOut counts what rules and kinds of file keep out.
type LeftOut struct {
	Excluded int64 `json:"excluded"`
	Special  int64 `json:"special"`
	Mount    int64 `json:"mount"`
}

// Verified counts files by how their bytes were proved.
type Verified struct {
	Device Count `json:"device"`
	Cache  Count `json:"cache"`
	Server Count `json:"server"`
	Source Count `json:"source"`
}

// MaxProblems is how many problems are kept per run; ProblemCount has the total.
const MaxProblems = 1000

// Hour is one field of a job's board: what the hour folder holds now, and what
// the latest run for it did.
type Hour struct {
	Content  string    `json:"content"` // engine.Content: "", "sealed", "writing", ...
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	Due      time.Time `json:"due,omitzero"`
	SealedBy string    `json:"sealed_by,omitempty"` // run id
	Files    Count     `json:"files"`
	Problems int64     `json:"problems,omitempty"`
	Verified Verified  `json:"verified"`
	Oldest   time.Time `json:"oldest,omitzero"` // every file read back since
	Notes    []string  `json:"notes,omitempty"`
	LastRun  string    `json:"last_run,omitempty"` // run id of the latest run for this hour
	Outcome  string    `json:"outcome,omitempty"`  // of LastRun, also skipped and missed
	At       time.Time `json:"at,omitzero"`        // when LastRun ended, or its due
}

// Board is the 24 hours of a job.
type Board [24]Hour
