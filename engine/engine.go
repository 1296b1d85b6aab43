// Package engine makes a target equal to its source and proves it. One call of
// Run is one run: scan, compare, stage, verify, publish, seal. It reads the
// source, never writes it; it knows nothing of jobs, schedules or browsers.
//
// Start with Run; Preview tells what Run would do; Verify reads a sealed hour
// back; Hours lists what a target holds. The order of the steps and why it is
// safe stands in the README's "What makes a copy safe"; this package keeps that
// order.
package engine

import (
	"errors"
	"time"

	"github.com/hourhand/hourhand/engine/governor"
)

// Run-level errors. Trouble with one file is a Problem in the Report, never an
// error of the run. Each is wrapped with the thing it is about; test with
// errors.Is.
var (
	ErrNoSource = errors.New("source is missing")                 // missing, not a folder, or its root cannot be read
	ErrNoTarget = errors.New("target is missing")                 // a job's run never makes the target
	ErrOverlap  = errors.New("source and target overlap")         // one inside the other, or the same folder
	ErrForeign  = errors.New("target is not ours")                // not empty and without our mark, or marked by another job or machine
	ErrVolume   = errors.New("another drive than before")         // at the source's or the target's path
	ErrHeld     = errors.New("held until a person approves")      // empty source, lost top-level folder, mass change
	ErrNoSpace  = errors.New("target is full")                    // the old copies stay
	ErrLocked   = errors.New("target is in use by another run")   // the OS lock in .hourhand is held elsewhere
	ErrLost     = errors.New("target was lost during the run")    // unplugged, read-only, or a sync error on it
	ErrUsage    = errors.New("cannot run with these settings")    // for callers without a flag parser
	ErrMismatch = errors.New("read back other bytes than stored") // verification
)

// OneShot is the hour of a target without hours: TARGET itself is the copy.
const OneShot = -1

// Proof says how the bytes that were written are proved.
type Proof int

const (
	VerifyFull   Proof = iota // read back past this system's cache after the sync; the default
	VerifySource              // only hashed in flight
	VerifyNone                // not proved; the manifest still holds the hash in flight
)

// Mode says what a run does with what it finds.
type Mode int

const (
	ModeMirror  Mode = iota // the hour becomes equal to the source
	ModeChanges             // the hour receives what is new or changed since the last sealed run
)

// Profile bounds how much the run takes from others. Where nobody else wants the
// drives, all are as fast.
type Profile int

const (
	ProfileNormal Profile = iota // yields so that other programs lose about a quarter of their speed
	ProfileGentle                // about a twentieth; idle I/O class and low CPU priority besides
	ProfileFull                  // whatever it takes
)

// Dest is one copy to be made: an hour of a target, or a one-shot target.
type Dest struct {
	Target string // folder that holds .hourhand
	Hour   int    // 0..23, or OneShot
}

// MaxDelete is the threshold of the mass-change guard: removals and
// replacements against the newest sealed hour. The zero value is the default:
// more than 50 files and more than 25 %.
type MaxDelete struct {
	Files   int     // absolute bound; 0 with Percent 0: the default
	Percent float64 // of the files of the newest sealed hour; 0: no percentage
	Set     bool    // true: Files or Percent was chosen by the user (0 files: any removal is held)
}

// Owner is the mark of ownership on a target: what TARGET/.hourhand/target.json
// says. The zero value marks a one-shot mirror of this machine.
type Owner struct {
	JobID string // "" for a one-shot mirror
	Job   []byte // the whole job as JSON, enough to rebuild it from; nil for a one-shot mirror
}

// Mirror is one run. The zero values of all fields but Source and Dests work.
type Mirror struct {
	Source string // folder, only ever read; a link to a folder is resolved once
	Dests  []Dest // at least one; the source is read once for all of them

	Mode           Mode
	Verify         Proof
	Checksum       bool     // compare contents, not stat
	TrustIndex     bool     // do not stat the target: trust its idx
	Excludes       []string // gitignore patterns, after the defaults
	NoDefaults     bool     // without exclude.Defaults
	DeleteExcluded bool
	MaxDelete      MaxDelete
	Keep           time.Duration // ModeChanges: what was put there longer ago is removed; 0: 48 h

	Workers   int // files in work at once; 0: as many as gain speed on these drives
	Profile   Profile
	Gate      *Gate         // pause and limits; nil: never paused, no limit
	Retries   int           // further tries for a transient error; 0: 2, negative: none
	RetryWait time.Duration // before a further try; 0: 5 s

	Owner    Owner
	MakeDest bool      // make the last component of a target whose parent exists and which was never marked
	Adopt    bool      // take over a target that is not ours: equal files are kept, others go to found/
	Yes      bool      // passes the guards for volumes, empty source and mass change
	Plan     string    // id of an approved plan: what it lists may go
	RunID    string    // written into the hour's state; "": a new one
	Due      time.Time // zero: made by hand
	Scratch  string    // folder for spilled lists, on a local disk; "": os.TempDir()

	hook func(step, path string) error // a test's: called before each step of the file system
}

// step lets a test fail, stop or watch a step of the file system.
func (m *Mirror) step(name, path string) error {
	if m.hook == nil {
		return nil
	}
	return m.hook(name, path)
}

// Outcome of a run, of one destination.
type Outcome string

const (
	Done      Outcome = "done"
	Partial   Outcome = "partial" // some files had problems
	Held      Outcome = "held"    // a guard stopped it and it waits for a person
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
	// Interrupted is written by Recover, never returned: the run's process died.
	Interrupted Outcome = "interrupted"
)

// Count is a number of files and their bytes.
type Count struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// LeftOut counts what a rule or the kind of file keeps out. It is no problem.
type LeftOut struct {
	Excluded int64 `json:"excluded"`
	Special  int64 `json:"special"`
	Mount    int64 `json:"mount"`
}

// Verified counts files by how their bytes were proved.
type Verified struct {
	Device Count `json:"device"` // read back past this system's cache after an acknowledged flush
	Cache  Count `json:"cache"`  // read back, but could not be read past the cache
	Server Count `json:"server"` // network targets
	Source Count `json:"source"` // only hashed in flight
}

// Problem is trouble with one file: data, never a reason to stop.
type Problem struct {
	Path  string `json:"path"`
	Error string `json:"error"`           // what is wrong and what to do, in one sentence
	Cause string `json:"cause,omitempty"` // short key for hints: see Cause constants
}

// Causes of problems and of failed runs, for hints.
const (
	CausePermission = "permission"
	CauseChanged    = "changed"   // changed while being read
	CauseRead       = "read"      // the source could not be read
	CauseWrite      = "write"     // the target could not be written
	CauseName       = "name"      // the target cannot hold this name
	CauseTooLarge   = "too-large" // the target cannot hold a file of this size
	CauseMismatch   = "mismatch"  // read back other bytes
	CauseRot        = "rot"       // bytes changed although size and times did not
	CauseListing    = "listing"   // a folder could not be listed
	CauseOther      = "other"
)

// MaxProblems is how many problems a report lists; ProblemCount has them all.
// 1,000: a page that a person can read, and a bound for the history (hazard
// row "logs grow for ever").
const MaxProblems = 1000

// Report is the result of a run for one destination.
type Report struct {
	Dest
	RunID        string
	Outcome      Outcome
	Err          error // why it is not done or partial; nil otherwise
	Copied       Count // new files
	Updated      Count // replaced files
	Removed      Count
	Moved        Count // stays 0 until move detection exists
	Unchanged    Count
	LeftOut      LeftOut
	Verified     Verified // files copied or updated in this run
	Problems     []Problem
	ProblemCount int64
	Notes        []string // what is not a problem but a person may want to know: "durability not provable: ..."
	Plan         *Plan    // what was held, if Outcome is Held
	Started      time.Time
	Ended        time.Time
	Sealed       bool // the hour is sealed with this run's id
	Changed      bool // the hour was touched at all
}

// Progress is a snapshot of a run, at most 4 a second, and one at its end.
type Progress struct {
	Phase      string `json:"phase"` // "scanning", "copying", "verifying", "removing", "sealing"
	Paused     bool   `json:"paused"`
	FilesDone  int64  `json:"files_done"` // copied, updated or found unchanged
	BytesDone  int64  `json:"bytes_done"`
	FilesTotal int64  `json:"files_total"` // grows until TotalsKnown
	BytesTotal int64  `json:"bytes_total"`
	// CopyDone and CopyTotal are the bytes that really are copied: what speed
	// and time left are about.
	CopyDone    int64     `json:"copy_done"`
	CopyTotal   int64     `json:"copy_total"`
	TotalsKnown bool      `json:"totals_known"`
	Current     string    `json:"current"` // path in work, relative to the source
	Speed       float64   `json:"speed"`   // bytes/s over the last seconds, of what is copied
	Problems    int64     `json:"problems"`
	Started     time.Time `json:"started"`
	Pace        Pace      `json:"pace"`
}

// Pace is what the governor lets a run take at the moment.
type Pace = governor.Pace

// Plan is what a run would change, or what a guard held.
type Plan struct {
	ID       string `json:"id"`                // approves exactly this list
	Reason   string `json:"reason,omitempty"`  // why it was held, a sentence
	Against  string `json:"against,omitempty"` // the hour it was compared with: "13", "mirror"
	Add      Count  `json:"add"`
	Replace  Count  `json:"replace"`
	Remove   Count  `json:"remove"`
	Of       int64  `json:"of"`    // files of the newest sealed hour
	Sample   []Item `json:"items"` // the first 1,000 replacements and removals
	Problems int64  `json:"problems,omitempty"`
}

// Item is one planned step with its reason.
type Item struct {
	Op     string `json:"op"` // "add", "replace", "remove", "mend", "left-out", "problem"
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason"` // "new", "size 10 -> 12", "modified 2026-01-02 ...", "not in the source", ...
}
