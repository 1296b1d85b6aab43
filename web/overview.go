package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/hourhand/hourhand/agent"
)

// overviewView is the page "/".
type overviewView struct {
	chrome
	Answer  answerView
	Notices []noticeView
	Cards   []cardView
	Week    weekView
	Day     *runsView // the runs of one day, if it was asked for
}

// answerView answers "am I protected?".
type answerView struct{ Headline, Sub string }

func (s *Server) overview(w http.ResponseWriter, r *http.Request) {
	st := s.status()
	v, err := s.overviewOf(st)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if day, err := time.ParseInLocation(time.DateOnly, r.FormValue("day"), st.Now.Location()); err == nil {
		if v.Day, err = s.runsOfDay("", day, st.Now); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	s.page(w, http.StatusOK, "overview", v)
}

func (s *Server) overviewOf(st agent.Status) (overviewView, error) {
	now := st.Now
	v := overviewView{
		chrome:  s.chromeOf(st, titleOf(st), "overview", "overview"),
		Answer:  answerOf(st),
		Notices: s.noticesOf(st),
	}
	open := openJob(st.Jobs)
	for i, j := range st.Jobs {
		v.Cards = append(v.Cards, cardOf(j, st, i == open))
	}
	// The open card comes first.
	slices.SortStableFunc(v.Cards, func(a, b cardView) int {
		switch {
		case a.Open == b.Open:
			return 0
		case a.Open:
			return -1
		}
		return 1
	})
	runs, err := s.recent.all(st, now)
	if err != nil {
		return v, err
	}
	v.Week = weekOf(runs, st.Jobs, now, func(day string) string { return "/?day=" + day + "#day" })
	return v, nil
}

// openJob is the job that is shown with its ring: the one that runs, else the
// worst one.
func openJob(jobs []agent.JobStatus) int {
	best, rank := -1, -1
	for i, j := range jobs {
		r := slices.Index(openRank, j.State)
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

var openRank = []agent.State{
	agent.Idle, agent.Never, agent.Waiting, agent.Partial, agent.NoDrive, agent.NoSource, agent.Held, agent.Failed,
	agent.Paused, agent.Pausing, agent.Verifying, agent.Running,
}

// titleOf is the tab's title: it follows the state.
func titleOf(st agent.Status) string {
	const name = "Hourhand"
	for _, j := range st.Jobs {
		if j.Run == nil || st.Pause.On {
			continue
		}
		if share, known := progressOf(*j.Run); known {
			return percent(share) + " " + visible(j.Job.Name) + " – " + name
		}
		return "… " + visible(j.Job.Name) + " – " + name
	}
	headline := answerOf(st).Headline
	switch st.State {
	case agent.Failed, agent.NoDrive, agent.NoSource, agent.Held, agent.Partial:
		return "! " + headline + " – " + name
	}
	return headline + " – " + name
}

// answerOf is the headline over all jobs.
func answerOf(st agent.Status) answerView {
	now := st.Now
	if len(st.Jobs) == 0 {
		return answerView{"Nothing is protected yet", "Choose a folder and a drive; it takes about a minute."}
	}
	newest := "No verified copy yet"
	if !st.Newest.IsZero() {
		newest = "Newest verified copy " + moment(now, st.Newest) + ", " + ago(now, st.Newest)
	}
	i := slices.IndexFunc(st.Jobs, func(j agent.JobStatus) bool { return j.State == st.State })
	if st.Pause.On {
		return pausedAnswer(st, newest)
	}
	if i < 0 {
		return answerView{"Everything is protected", newest}
	}
	j := st.Jobs[i]
	return answerView{headlineOf(j, st), subOf(j, st, newest)}
}

func pausedAnswer(st agent.Status, newest string) answerView {
	if st.State == agent.Pausing {
		return answerView{"Pausing…", newest}
	}
	return answerView{"Paused " + untilOf(st.Pause, st.Now), newest + ". Nothing is copied meanwhile."}
}

func headlineOf(j agent.JobStatus, st agent.Status) string {
	name := visible(j.Job.Name)
	switch j.State {
	case agent.Running, agent.Verifying:
		verb := map[agent.State]string{agent.Running: "Copying", agent.Verifying: "Checking"}[j.State]
		if share, known := progressOf(*j.Run); known {
			return verb + " " + name + ", " + percent(share)
		}
		return verb + " " + name
	case agent.Waiting:
		return name + " waits"
	case agent.Failed:
		if j.Last != nil && damaged(*j.Last) {
			return name + ": " + lowerFirst(hintOf(j).Title)
		}
		return name + " failed: " + lowerFirst(hintOf(j).Title)
	case agent.Partial:
		return name + ": " + files(problemsOf(j)) + " could not be copied"
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

func subOf(j agent.JobStatus, st agent.Status, newest string) string {
	switch j.State {
	case agent.Running:
		if d := timeLeft(*j.Run); d > 0 {
			return capital(about(d)) + " left. " + newest
		}
	case agent.Verifying:
		return "Reading back what was written. " + newest
	case agent.Waiting:
		return capital(visible(j.Reason)) + ". " + newest
	case agent.Idle, agent.Never:
		if !st.Next.IsZero() {
			return newest + ". Next " + moment(st.Now, st.Next)
		}
	}
	return newest
}
