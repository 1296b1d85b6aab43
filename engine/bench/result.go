package bench

import (
	"cmp"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hourhand/hourhand/engine"
)

// Groups of cases.
const (
	Plain  = "plain"  // what a program does without thought
	Tools  = "tools"  // programs that were found
	Full   = "full"   // ours, every file read back
	Source = "source" // ours, hashed while being read
)

// Result is what a bench learned. As JSON it is the report of --json.
type Result struct {
	Started  time.Time       `json:"started"`
	Ended    time.Time       `json:"ended"`
	System   string          `json:"system"`
	Source   Drive           `json:"source"`
	Target   Drive           `json:"target"`
	Same     bool            `json:"same_drive"`
	Size     int64           `json:"size"` // bytes of all trees together
	Rounds   int             `json:"rounds"`
	Cold     string          `json:"source_was"`
	Works    []Work          `json:"works"`
	Cases    []Case          `json:"cases"`
	Verified engine.Verified `json:"verified"` // what the cases of the group full read back, and from where
	LeftOut  []string        `json:"left_out"` // tools that were not found or failed, with the reason
	Notes    []string        `json:"notes"`
	Advice   Advice          `json:"advice"`
}

// Work is one tree.
type Work struct {
	Name    string `json:"name"`
	Files   int64  `json:"files"`
	Folders int64  `json:"folders"`
	Bytes   int64  `json:"bytes"`
}

// Case is one way to copy, with its times.
type Case struct {
	Group   string `json:"group"`
	Name    string `json:"name"`
	Profile string `json:"profile,omitempty"` // of ours: gentle, normal, full
	Workers int    `json:"workers"`           // of ours; 0: by itself
	Failed  string `json:"failed,omitempty"`  // why it was given up
	Yielded bool   `json:"yielded,omitempty"` // it gave way to other programs: its times tell more about those than about the drive
	Times   []Time `json:"times"`             // one for each tree
}

// Time is how long a case took on one tree.
type Time struct {
	Work    string    `json:"work"`
	Seconds []float64 `json:"seconds"` // in the order of the rounds
	Median  float64   `json:"median"`
	Best    float64   `json:"best"`
}

// Title names the case outside the table, where its group is not seen.
func (c Case) Title() string {
	switch c.Group {
	case Full:
		return "hourhand, " + c.Name + ", verified"
	case Source:
		return "hourhand, " + c.Name + ", hashed only"
	}
	return c.Name
}

func (c *Case) add(work string, took time.Duration) {
	i := slices.IndexFunc(c.Times, func(t Time) bool { return t.Work == work })
	if i < 0 {
		i = len(c.Times)
		c.Times = append(c.Times, Time{Work: work})
	}
	t := &c.Times[i]
	t.Seconds = append(t.Seconds, took.Seconds())
	t.Best, t.Median = slices.Min(t.Seconds), median(t.Seconds)
}

// on is the case's time on a tree; ok is false where it has none.
func (c Case) on(work string) (t Time, ok bool) {
	i := slices.IndexFunc(c.Times, func(t Time) bool { return t.Work == work })
	if i < 0 || c.Failed != "" {
		return Time{}, false
	}
	return c.Times[i], true
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// note keeps what a person may want to know, once.
func (r *Result) note(text string) {
	if text != "" && !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// fastest is the best median on a tree among our verified cases.
func (r Result) fastest(work string) float64 {
	least := 0.0
	for _, c := range r.Cases {
		if t, ok := c.on(work); ok && c.Group == Full {
			least = min(cmp.Or(least, t.Median), t.Median)
		}
	}
	return least
}

// outOfSpace gives the system's error for a full drive the name that callers
// know.
func outOfSpace(err error) error {
	if errors.Is(err, engine.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return becameFull(err)
}

func becameFull(err error) error {
	return refusef(engine.ErrNoSpace, "too little room: the drive became full, because others wrote to it meanwhile; make room, or say a smaller --size (%v)", err)
}
