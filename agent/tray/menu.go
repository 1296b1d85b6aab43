package tray

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/hourhand/hourhand/agent"
)

// command is what a click on an item asks for.
type command int

const (
	nothing command = iota // a line to read
	openDashboard
	runNow
	pauseMenu // opens the items below it
	pauseHalfHour
	pauseHour
	pauseTomorrow
	pauseForGood
	resume
	quit
)

// item is a line of the menu. Systems cannot take lines away again: the menu
// always has the same ones, and hides and disables some.
type item struct {
	title   string
	command command
	off     bool // grey
	hidden  bool
	section bool   // a separator stands above
	below   []item // of a submenu
}

// menuFor is the menu that a status calls for.
func menuFor(s agent.Status) []item {
	return []item{
		{title: headline(s), off: true},
		{title: newest(s), off: true},
		{title: next(s), off: true},
		{title: "Open dashboard", command: openDashboard, section: true},
		{title: "Run now", command: runNow, off: len(s.Jobs) == 0 || s.Pause.On},
		{title: "Pause", command: pauseMenu, below: []item{
			{title: "For 30 minutes", command: pauseHalfHour},
			{title: "For 1 hour", command: pauseHour},
			{title: "Until " + moment(tomorrow(s.Now), s.Now), command: pauseTomorrow},
			{title: "Until I resume", command: pauseForGood},
		}},
		{title: "Resume", command: resume, hidden: !s.Pause.On},
		{title: "Quit", command: quit, section: true},
	}
}

// tooltipSize is what Windows shows of a tooltip, in UTF-16 units (szTip of
// NOTIFYICONDATAW, without the final zero).
const tooltipSize = 127

// tooltip says the same as the first lines of the menu.
func tooltip(s agent.Status) string {
	text := []rune(strings.Join([]string{"Hourhand: " + headline(s), newest(s), next(s)}, "\n"))
	for len(utf16.Encode(text)) > tooltipSize {
		text = append(text[:len(text)-2], '…')
	}
	return string(text)
}

// headline is the state in a few words: those of the dashboard.
func headline(s agent.Status) string {
	switch {
	case s.State == agent.Pausing:
		return "Pausing…"
	case s.Pause.On && s.Pause.Until.IsZero():
		return "Paused until you resume"
	case s.Pause.On:
		return "Paused until " + moment(s.Pause.Until, s.Now)
	case len(s.Jobs) == 0:
		return "Nothing is protected yet"
	}
	i := slices.IndexFunc(s.Jobs, func(j agent.JobStatus) bool { return j.State == s.State })
	if i < 0 {
		return "Everything is protected"
	}
	return jobHeadline(s.Jobs[i], s.Now)
}

func jobHeadline(j agent.JobStatus, now time.Time) string {
	name := j.Job.Name
	switch j.State {
	case agent.Running:
		return "Copying " + name + share(j.Run)
	case agent.Verifying:
		return "Checking " + name + share(j.Run)
	case agent.Waiting:
		return name + " waits"
	case agent.Failed:
		if j.Last != nil {
			return fmt.Sprintf("%s failed at %s", name, moment(j.Last.Ended, now))
		}
		return name + " failed"
	case agent.Partial:
		return name + " needs a look: some files have problems"
	case agent.Held:
		return name + " waits for you"
	case agent.NoDrive:
		return "The drive of " + name + " is not connected"
	case agent.NoSource:
		return "The folder of " + name + " is not there"
	case agent.Never:
		return name + " has no copy yet"
	}
	return "Everything is protected"
}

// share is ", 62%" of a run whose size is known.
func share(r *agent.RunStatus) string {
	if r == nil || !r.Progress.TotalsKnown || r.Progress.CopyTotal <= 0 {
		return ""
	}
	done := min(100*r.Progress.CopyDone/r.Progress.CopyTotal, 99) // 100 is for what has ended
	return fmt.Sprintf(", %d%%", done)
}

func newest(s agent.Status) string {
	if s.Newest.IsZero() {
		return "No copy yet"
	}
	return "Newest copy: " + moment(s.Newest, s.Now)
}

func next(s agent.Status) string {
	if s.Next.IsZero() {
		return "Next: only by hand"
	}
	return "Next: " + moment(s.Next, s.Now)
}

// moment writes t as people say it at now.
func moment(t, now time.Time) string {
	t = t.In(now.Location())
	date := func(t time.Time) string { return t.Format(time.DateOnly) }
	switch date(t) {
	case date(now):
		return t.Format("15:04")
	case date(now.AddDate(0, 0, -1)):
		return t.Format("yesterday 15:04")
	case date(now.AddDate(0, 0, 1)):
		return t.Format("tomorrow 15:04")
	}
	if t.Year() == now.Year() {
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006, 15:04")
}

// iconFor names the icon of a state, as static.TrayIcon knows them. Their shapes
// differ, not only their colours.
func iconFor(s agent.State) string {
	switch s {
	case agent.Running, agent.Verifying:
		return "running"
	case agent.Pausing, agent.Paused:
		return "paused"
	case agent.Partial, agent.Held:
		return "look"
	case agent.Failed, agent.NoDrive, agent.NoSource:
		return "failed"
	}
	return "idle"
}
