package web

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

const (
	weekDays    = 7  // shown in the table of past hours
	historyDays = 15 // kept at hand: the page of an hour tells two weeks
)

// weekView is the table of the last days: a row a day, a column an hour.
type weekView struct {
	Days   []dayView
	Legend []legendView // of the fields that it shows
}

type dayView struct {
	Name  string
	Href  string // the runs of that day
	Cells [24]cellView
}

type cellView struct {
	Class string // shade or state; "": no run
	Glyph string
	Say   string // for screen readers
}

// cell is what is known of one hour of one day, over all jobs that are shown.
type cell struct {
	rank    int // of the worst outcome; 0: nothing ran
	outcome string
	changed int64 // bytes
}

// outcomes, the worst last: the worst of several jobs is shown.
var outcomes = []string{"", store.Done, store.Cancelled, store.Skipped, store.Missed, store.Partial, store.Held, store.Interrupted, store.Failed}

type slot struct {
	day  time.Time // midnight
	hour int
}

// weekOf lays runs, newest first, into the table. For each job the newest run of
// a slot counts: an error that was put right is gone. Verifications write no
// hour, so they have no slot; what they find shows in the ring.
func weekOf(runs []store.Run, jobs []agent.JobStatus, now time.Time, href func(day string) string) weekView {
	cells := map[slot]cell{}
	type seen struct {
		job string
		slot
	}
	done := map[seen]bool{}
	for _, r := range runs {
		if r.Hour < 0 || r.Outcome == store.Running || r.Trigger == triggerVerify {
			continue
		}
		at := slot{midnight(whenOf(r).In(now.Location())), r.Hour}
		if done[seen{r.Job, at}] || at.day.Before(midnight(now).AddDate(0, 0, 1-weekDays)) {
			continue
		}
		done[seen{r.Job, at}] = true
		c := cells[at]
		c.changed += r.Copied.Bytes + r.Updated.Bytes
		if rank := slices.Index(outcomes, r.Outcome); rank > c.rank {
			c.rank, c.outcome = rank, r.Outcome
		}
		cells[at] = c
	}
	days := daysOf(cells, jobs, now, href)
	return weekView{Days: days, Legend: weekLegend(days)}
}

// whenOf is the instant to which a run belongs: its due, or when it was started
// by hand.
func whenOf(r store.Run) time.Time {
	if r.Due.IsZero() {
		return r.Started
	}
	return r.Due
}

func daysOf(cells map[slot]cell, jobs []agent.JobStatus, now time.Time, href func(string) string) []dayView {
	low, high := shades(cells)
	var days []dayView
	for back := range weekDays {
		day := midnight(now).AddDate(0, 0, -back)
		v := dayView{Name: dayName(day, back), Href: href(day.Format(time.DateOnly))}
		for hour := range 24 {
			c := cells[slot{day, hour}]
			v.Cells[hour] = cellOf(c, low, high)
			if back == 0 && c.rank == 0 && hour > now.Hour() {
				v.Cells[hour] = cellView{Class: "n", Glyph: "·", Say: "not yet"}
			}
			if back == 0 && anyWrites(jobs, hour) {
				v.Cells[hour] = cellView{Class: "r", Say: "running"}
			}
		}
		days = append(days, v)
	}
	return days
}

// weekFields are the fields of the table in the order of its legend.
var weekFields = []legendView{
	{"v1", "Verified, little changed"}, {"v2", "more"}, {"v3", "most"}, {"f", "✕ Failed"}, {"w", "! Needs a look"},
	{"p", "– Skipped, missed or stopped"}, {"r", "Running"}, {"", "No run"}, {"n", "· Still to come"},
}

func weekLegend(days []dayView) []legendView {
	shown := map[string]bool{}
	for _, day := range days {
		for _, c := range day.Cells {
			shown[c.Class] = true
		}
	}
	// The shades explain each other.
	verified := shown["v1"] || shown["v2"] || shown["v3"]
	shown["v1"], shown["v2"], shown["v3"] = verified, verified, verified
	return slices.DeleteFunc(slices.Clone(weekFields), func(l legendView) bool { return !shown[l.Class] })
}

func dayName(day time.Time, back int) string {
	if back == 0 {
		return "Today"
	}
	return day.Format("Mon 2")
}

func anyWrites(jobs []agent.JobStatus, hour int) bool {
	return slices.ContainsFunc(jobs, func(j agent.JobStatus) bool { return writes(j.Run, hour) })
}

// shades are the bounds of light, middle and dark: thirds of the hours in which
// anything changed.
func shades(cells map[slot]cell) (low, high int64) {
	var sizes []int64
	for _, c := range cells {
		if c.changed > 0 {
			sizes = append(sizes, c.changed)
		}
	}
	if len(sizes) == 0 {
		return 0, 0
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/3], sizes[len(sizes)*2/3]
}

func cellOf(c cell, low, high int64) cellView {
	switch c.outcome {
	case "":
		return cellView{Say: "no run"}
	case store.Failed, store.Interrupted:
		return cellView{Class: "f", Glyph: "✕", Say: c.outcome}
	case store.Partial, store.Held:
		return cellView{Class: "w", Glyph: "!", Say: c.outcome}
	case store.Skipped, store.Missed, store.Cancelled:
		return cellView{Class: "p", Glyph: "–", Say: c.outcome}
	}
	v := cellView{Class: "v1", Say: "verified, " + size(c.changed) + " changed"}
	switch {
	case c.changed == 0:
	case c.changed >= high:
		v.Class = "v3"
	case c.changed >= low:
		v.Class = "v2"
	}
	return v
}

// recentRuns keeps the runs of the last days at hand, since the stream asks for
// them four times a second and they change once an hour.
type recentRuns struct {
	store *store.Store

	mu   sync.Mutex // guards the fields below
	key  string
	runs []store.Run
}

// all returns the runs of all jobs in the last days, newest first. Nobody may
// change what it returns.
func (d *recentRuns) all(s agent.Status, now time.Time) ([]store.Run, error) {
	key := historyKey(s, now)
	d.mu.Lock()
	known, runs := d.key == key, d.runs
	d.mu.Unlock()
	if known {
		return runs, nil
	}
	runs, err := runsSince(d.store, "", now.AddDate(0, 0, -historyDays))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.key, d.runs = key, runs
	d.mu.Unlock()
	return runs, nil
}

// historyKey changes whenever a run was recorded: each one leaves its trace in
// the board of its job.
func historyKey(s agent.Status, now time.Time) string {
	var key []byte
	for _, j := range s.Jobs {
		key = fmt.Appendf(key, "%s %d ", j.Job.ID, j.Missed)
		if j.Last != nil {
			key = fmt.Appendf(key, "%s %s ", j.Last.ID, j.Last.Outcome)
		}
		for _, h := range j.Board {
			key = fmt.Appendf(key, "%s ", h.LastRun)
		}
	}
	return now.Format(time.DateOnly) + " " + string(key)
}

// runsSince lists the runs of a job ("": of all) that began, or were due, at or
// after from.
func runsSince(st *store.Store, job string, from time.Time) ([]store.Run, error) {
	var runs []store.Run
	for r, err := range st.Runs(job) {
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		if r.Started.Before(from) && whenOf(r).Before(from) {
			break
		}
		runs = append(runs, r)
	}
	return runs, nil
}
