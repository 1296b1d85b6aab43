package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// noticeView is something to know or to do, above the cards.
type noticeView struct {
	Class   string // "bad", "warn", "info"
	Lead    string
	Text    string
	More    string // the hint
	Actions []actionView
}

// noticesOf collects what needs a person, and what the data folder has to tell.
func (s *Server) noticesOf(st agent.Status) []noticeView {
	var list []noticeView
	for _, j := range st.Jobs {
		if n, ok := noticeOf(j, st.Now); ok {
			list = append(list, n)
		}
	}
	for _, text := range []string{s.notice, st.Notice} {
		if text != "" {
			list = append(list, noticeView{Class: "info", Lead: "Good to know:", Text: visible(text)})
		}
	}
	return list
}

func noticeOf(j agent.JobStatus, now time.Time) (noticeView, bool) {
	name, h := visible(j.Job.Name), hintOf(j)
	n := noticeView{Class: "bad", Text: stopped(capital(visible(j.Reason))), More: h.Text}
	switch j.State {
	case agent.Failed:
		n.Lead = name + ", " + failedAt(j, now) + lowerFirst(h.Title) + "."
		n.Actions = actionsFor(j, append([]actionKind{actProblems}, h.Actions...))
	case agent.Partial:
		n = partialNotice(j, now)
	case agent.Held:
		n.Class, n.Lead = "warn", name+" waits for you."
		n.Actions = actionsFor(j, h.Actions)
	case agent.NoDrive:
		n.Lead, n.Text, n.More = name+": the drive is not connected.", stopped(missedOf(j, "")), hintFor(agent.CauseNoTarget).Text
		n.Actions = []actionView{{Label: "Choose another drive", Href: jobURL(j.Job.ID) + "/edit"}}
	case agent.NoSource:
		n.Lead, n.More = name+": stopped for safety.", hintFor(agent.CauseNoSource).Text
		n.Actions = actionsFor(j, hintFor(agent.CauseNoSource).Actions)
	default:
		return n, false
	}
	return n, true
}

func partialNotice(j agent.JobStatus, now time.Time) noticeView {
	n := noticeView{Class: "warn", Lead: visible(j.Job.Name) + ":"}
	if j.Last == nil {
		return n
	}
	n.Lead = fmt.Sprintf("%s, %s:", visible(j.Job.Name), moment(now, whenOf(*j.Last)))
	n.Text = files(j.Last.ProblemCount) + " could not be copied."
	if good := goodFiles(*j.Last); good > 0 {
		n.Text += " The other " + count(good) + " are in the copy."
	}
	n.Actions = actionsFor(j, []actionKind{actProblems, actRetry})
	return n
}

func goodFiles(r store.Run) int64 {
	return r.Copied.Files + r.Updated.Files + r.Moved.Files + r.Unchanged.Files
}

// actionsFor makes the buttons of a job's hint.
func actionsFor(j agent.JobStatus, kinds []actionKind) []actionView {
	at := jobURL(j.Job.ID)
	var list []actionView
	for _, kind := range kinds {
		switch kind {
		case actRetry:
			list = append(list, actionView{Label: "Try again now", Post: at + "/run", Busy: "Starting…"})
		case actProblems:
			if j.Last != nil && problemsOf(j) > 0 {
				list = append(list, actionView{Label: "See the " + strings.TrimPrefix(files(problemsOf(j)), "1 "), Href: runURL(j.Last.ID) + "#problems"})
			}
		case actEdit:
			list = append(list, actionView{Label: "Check the settings", Href: at + "/edit"})
		case actApprove:
			list = append(list, approveActions(j)...)
		case actVerify:
			list = append(list, actionView{Label: "Verify the newest hour", Post: at + "/verify", Busy: "Starting…"})
		case actRepair:
			list = append(list, repairAction(j.Job.ID, j.Last.Hour))
		case actResume:
			list = append(list, actionView{Label: "Resume now", Post: "/resume", Busy: "Resuming…"})
		}
	}
	return list
}

func repairAction(job string, hour int) actionView {
	return actionView{Label: "Repair hour " + hh(hour), Post: jobURL(job) + "/verify", Name: "repair", Value: hh(hour), Busy: "Starting…"}
}

// approveActions lead to the list of what is held, and approve exactly that one.
// Another drive than before has no list.
func approveActions(j agent.JobStatus) []actionView {
	at := jobURL(j.Job.ID)
	switch {
	case j.Last == nil:
		return nil
	case j.Plan != nil:
		return []actionView{
			{Label: "See the list", Href: runURL(j.Last.ID) + "#plan", Primary: true},
			{Label: "Approve this list", Post: at + "/approve", Name: "plan", Value: j.Plan.ID, Busy: "Starting…"},
		}
	case j.Cause == agent.CauseVolume:
		return []actionView{{Label: "Take this drive from now on", Post: at + "/approve", Name: "plan", Value: "drive", Busy: "Starting…"}}
	}
	return nil
}

// holds tells whether what a job waits for concerns this hour.
func holds(j agent.JobStatus, hour int) bool {
	return j.State == agent.Held && j.Last != nil && j.Last.Hour == hour
}
