package engine

import "time"

// Content says what an hour's folder holds.
type Content string

const (
	Empty    Content = ""         // never written
	Sealed   Content = "sealed"   // equals its source as read From..To
	Writing  Content = "writing"  // a run is at work, or died at it
	Superset Content = "superset" // everything new is there, nothing was removed
	Mixed    Content = "mixed"    // old and new files side by side: held, failed or cancelled half-way
	Adopted  Content = "adopted"  // taken over, kept files not proved yet
)

// LastRun is the latest run that worked on an hour, sealed or not.
type LastRun struct {
	ID       string    `json:"id"`
	Outcome  Outcome   `json:"outcome"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	Problems int64     `json:"problems,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// State is an hour's 14.json. The zero value is an hour that was never written.
type State struct {
	Content  Content   `json:"content"`
	Hour     int       `json:"hour"` // OneShot for a target without hours
	From     time.Time `json:"from"` // the source was read from..to
	To       time.Time `json:"to"`
	Due      time.Time `json:"due,omitzero"`       // zero: made by hand
	RunID    string    `json:"run"`                // the run that wrote Content
	Seals    int64     `json:"seals"`              // how often this hour was sealed
	Manifest string    `json:"manifest,omitempty"` // XXH3-128 of the manifest, hex
	Index    string    `json:"idx,omitempty"`      // XXH3-128 of the idx, hex
	Files    Count     `json:"files"`
	Problems int64     `json:"problems,omitempty"` // source files that the copy lacks or holds in an older state
	Verified Verified  `json:"verified"`
	Oldest   time.Time `json:"oldest,omitzero"` // every file was read back since then
	Notes    []string  `json:"notes,omitempty"`
	LastRun  LastRun   `json:"last_run"`
	Mark     *mark     `json:"mark,omitempty"` // copy of the target's mark, so that a lost one can be rebuilt
}

// HourEntry is a regular file of a sealed hour.
type HourEntry struct {
	Path  string // '/' separators, raw bytes
	Size  int64
	MTime int64 // nanoseconds since 1970
	Hash  [16]byte
}

// Target is what a target's mark says.
type Target struct {
	ID      string // of this target, random
	JobID   string // "" for a one-shot mirror
	Job     []byte // the whole job as JSON
	Source  string
	Machine string // opaque
	Volume  string // identity of the volume it was made on, "" if the platform tells none
}

// Hour names one copy to verify.
type Hour struct {
	Dest
	Source  string // for Repair: where good bytes may still be; "": siblings only
	Repair  bool   // heal rot, nothing else
	Workers int
	Gate    *Gate
}

// Finding of a verification about one file.
type Finding string

const (
	FindingRot         Finding = "rot"    // bytes differ, stat as sealed
	FindingEdited      Finding = "edited" // stat differs
	FindingMissing     Finding = "missing"
	FindingExtra       Finding = "extra"
	FindingHealed      Finding = "healed"      // was rot, bytes are right again
	FindingInterrupted Finding = "interrupted" // of an interrupted hour: neither what it was nor what it was becoming
	FindingUnreadable  Finding = "unreadable"
)

// Found is one file's finding.
type Found struct {
	Path    string  `json:"path"`
	Finding Finding `json:"finding"`
	Detail  string  `json:"detail,omitempty"`
}

// Audit is the result of Verify.
type Audit struct {
	Dest
	Content     Content // of the hour
	Equal       Count   // files whose bytes match
	Rot         int64
	Edited      int64
	Missing     int64
	Extra       int64
	Healed      int64
	Unreadable  int64
	Interrupted bool    // the hour is being written or was left half-way
	Found       []Found // at most MaxProblems
	FoundCount  int64
	Verified    Verified
	Started     time.Time
	Ended       time.Time
}

// Drive identifies the file system below a path: two paths with equal ID share
// a volume.
type Drive struct {
	ID         string // volume identity, "" unknown
	FileSystem string // "ext4", "ntfs", ...
	Free       int64  // bytes that this user may fill
	Total      int64
	ReadOnly   bool
	Network    bool
	Durable    string // "" if a sync here reaches the device; else why that cannot be proved
}
