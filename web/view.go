package web

import (
	"net/url"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/static"
	"github.com/hourhand/hourhand/store"
)

// Addresses of pages. Ids come from the store, hours are numbers.

func jobURL(id string) string            { return "/jobs/" + url.PathEscape(id) }
func hourURL(id string, hour int) string { return jobURL(id) + "/hours/" + hh(hour) }
func runURL(id string) string            { return "/runs/" + url.PathEscape(id) }

// chrome is what surrounds every page.
type chrome struct {
	Title  string
	Theme  string // "light", "dark"; "": as the system
	Nav    string // the entry of the menu that is the present page
	Stream string // address of the page's stream, "" without one
	Bar    barView
	Icon   string // address of the tab's icon
	Now    string // of what is shown
}

// barView is the state in the page's header: paused or not.
type barView struct {
	Show   bool // false before anybody is let in
	Paused bool
	Until  string
}

// badgeView is a state in a word, a shape and a colour.
type badgeView struct{ Class, Glyph, Text string }

// actionView is a button: a link, or a form with one field.
type actionView struct {
	Label   string
	Href    string // a link, if Post is ""
	Post    string // where the form goes
	Name    string // of its field
	Value   string
	Busy    string // the label while it is on its way
	Primary bool
}

// badgeOf puts a job's state into a badge.
func badgeOf(j agent.JobStatus) badgeView {
	switch j.State {
	case agent.Running:
		return badgeView{"run", "●", workOf(*j.Run)}
	case agent.Verifying:
		return badgeView{"run", "●", workOf(*j.Run)}
	case agent.Pausing:
		return badgeView{"warn", "❚❚", "Pausing…"}
	case agent.Paused:
		return badgeView{"warn", "❚❚", "Paused"}
	case agent.Waiting:
		return badgeView{"off", "◔", "Waiting"}
	case agent.Failed:
		return badgeView{"bad", "✕", "Failed"}
	case agent.Partial:
		return badgeView{"warn", "!", "Needs a look"}
	case agent.Held:
		return badgeView{"warn", "!", "Waits for you"}
	case agent.NoDrive:
		return badgeView{"bad", "⚠", "Drive missing"}
	case agent.NoSource:
		return badgeView{"bad", "⚠", "Stopped for safety"}
	}
	switch {
	case j.Job.Disabled:
		return badgeView{"off", "–", "Switched off"}
	case j.State == agent.Never:
		return badgeView{"off", "○", "New"}
	}
	return badgeView{"ok", "✓", "Up to date"}
}

// outcomeBadge puts a run's outcome into a badge.
func outcomeBadge(outcome string) badgeView {
	switch outcome {
	case store.Running:
		return badgeView{"run", "●", "Running"}
	case store.Done:
		return badgeView{"ok", "✓", "Done"}
	case store.Partial:
		return badgeView{"warn", "!", "With problems"}
	case store.Held:
		return badgeView{"warn", "!", "Held"}
	case store.Failed:
		return badgeView{"bad", "✕", "Failed"}
	case store.Cancelled:
		return badgeView{"off", "–", "Stopped"}
	case store.Skipped:
		return badgeView{"off", "–", "Skipped"}
	case store.Missed:
		return badgeView{"off", "–", "Missed"}
	case store.Interrupted:
		return badgeView{"bad", "✕", "Interrupted"}
	}
	return badgeView{"off", "?", visible(outcome)}
}

// runBadge puts a run's end into a badge.
func runBadge(r store.Run) badgeView {
	if damaged(r) {
		return badgeView{"bad", "✕", "Damage found"}
	}
	return outcomeBadge(r.Outcome)
}

// centreOf is what stands inside a job's ring: one big word, two short lines.
func centreOf(j agent.JobStatus, pause agent.Pause, now time.Time) [3]string {
	newest := "no copy yet"
	if !j.Newest.IsZero() {
		newest = "newest copy " + moment(now, j.Newest)
	}
	switch j.State {
	case agent.Running, agent.Verifying:
		return runCentre(*j.Run)
	case agent.Pausing:
		return [3]string{"Pausing…", hoursOf(j.Run.Hours), newest}
	case agent.Paused:
		return [3]string{"Paused", untilOf(pause, now), newest}
	case agent.Waiting:
		return [3]string{"Waiting", "starts by itself", newest}
	case agent.Failed:
		return [3]string{"Failed", failedAt(j, now) + hintOf(j).Short, newest}
	case agent.Partial:
		return [3]string{"Look", files(problemsOf(j)) + " not copied", newest}
	case agent.Held:
		return [3]string{"Held", "waits for you", newest}
	case agent.NoDrive:
		return [3]string{"No drive", "not connected", missedOf(j, newest)}
	case agent.NoSource:
		return [3]string{"Stopped", "source is missing", newest}
	case agent.Never:
		return [3]string{"New", firstCopy(j, now), "or start it now"}
	}
	return [3]string{moment(now, j.Newest), "newest verified copy", nextOf(j, now)}
}

func runCentre(r agent.RunStatus) [3]string {
	share, known := progressOf(r)
	big := "Counting"
	if known {
		big = percent(share)
	}
	what := hoursOf(r.Hours)
	if r.Verify {
		what = "checking " + what
	}
	left := ""
	if d := timeLeft(r); d > 0 && !r.Progress.Paused {
		left = about(d) + " left"
	}
	return [3]string{big, what, left}
}

func untilOf(p agent.Pause, now time.Time) string {
	if p.Until.IsZero() {
		return "until you resume"
	}
	return "until " + moment(now, p.Until.Add(time.Minute-1).Truncate(time.Minute)) // not a minute too early
}

func failedAt(j agent.JobStatus, now time.Time) string {
	if j.Last == nil {
		return ""
	}
	return moment(now, whenOf(*j.Last)) + " – "
}

func problemsOf(j agent.JobStatus) int64 {
	if j.Last == nil {
		return 0
	}
	return j.Last.ProblemCount
}

func missedOf(j agent.JobStatus, otherwise string) string {
	if j.Missed == 0 {
		return otherwise
	}
	return plural(int64(j.Missed), "hour", "hours") + " missed"
}

func firstCopy(j agent.JobStatus, now time.Time) string {
	if j.Next.IsZero() {
		return "no copy yet"
	}
	return "first copy at " + moment(now, j.Next)
}

func nextOf(j agent.JobStatus, now time.Time) string {
	if j.Next.IsZero() {
		return "only by hand"
	}
	return "next at " + moment(now, j.Next)
}

// icons of the tab by state; the shapes differ, not only the colours.
func iconOf(s agent.State) string {
	name := "idle"
	switch s {
	case agent.Running, agent.Verifying:
		name = "running"
	case agent.Pausing, agent.Paused:
		name = "paused"
	case agent.Failed, agent.NoDrive, agent.NoSource:
		name = "failed"
	case agent.Partial, agent.Held:
		name = "look"
	}
	return static.URL("icons/" + name + ".svg")
}

func barOf(s agent.Status) barView {
	b := barView{Show: true, Paused: s.Pause.On}
	if s.Pause.On {
		b.Until = untilOf(s.Pause, s.Now)
	}
	return b
}
