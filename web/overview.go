package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
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

// cardView is one job: open with its ring, or one line with a strip.
type cardView struct {
	ID, Name, Source, Target string
	Href                     string
	Open                     bool
	Badge                    badgeView
	Ring                     ringView
	Strip                    []stripCell
	StripSay                 string
	Line                     string // beside a closed card's strip
	Live                     *liveView
	Spark                    sparkView
	Facts                    []numberView // in place of Live
	Actions                  []actionView
}

type stripCell struct{ Class, X string }

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
	runs, err := s.days.since(st, now)
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
		return name + " failed: " + lowerFirst(hintFor(j.Cause).Title)
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
	name, h := visible(j.Job.Name), hintFor(j.Cause)
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

// cardOf draws a job's card.
func cardOf(j agent.JobStatus, st agent.Status, open bool) cardView {
	now := st.Now
	c := cardView{
		ID: cssID(j.Job.ID), Name: visible(j.Job.Name), Source: visible(j.Job.Source), Target: visible(j.Job.Target),
		Href: jobURL(j.Job.ID), Open: open, Badge: badgeOf(j), Actions: cardActions(j, st.Pause.On),
	}
	if !open {
		c.Strip, c.StripSay = stripOf(j, now)
		c.Line = lineOf(j, st)
		for i := range c.Actions {
			c.Actions[i].Primary = false // one thing to do first is enough, and that is the open card's
		}
		return c
	}
	c.Ring = ringOf(j, now, centreOf(j, st.Pause, now))
	if j.Run != nil {
		live := liveOf(*j.Run)
		c.Live, c.Spark = &live, sparkOf(j.Run.Speeds)
		return c
	}
	c.Facts = factsOf(j, now)
	return c
}

// cssID makes an id that can stand in an attribute and in a selector. The
// store's ids are such already; one edited by hand into jobs.json may not be.
func cssID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' {
			return r
		}
		return '-'
	}, id)
}

func stripOf(j agent.JobStatus, now time.Time) ([]stripCell, string) {
	tally := map[hourKind][]int{}
	var cells []stripCell
	for hour := range 24 {
		kind := kindOf(j, hour, now)
		tally[kind] = append(tally[kind], hour)
		cells = append(cells, stripCell{Class: string(kind), X: fmt.Sprint(hour * 10)})
	}
	return cells, summaryOf(tally, nextHour(j, now))
}

// lineOf is a closed card's sentence.
func lineOf(j agent.JobStatus, st agent.Status) string {
	c := centreOf(j, st.Pause, st.Now)
	if j.State == agent.Idle {
		return "Newest verified copy " + c[0] + ", " + c[2]
	}
	return strings.Join(slices.DeleteFunc(c[:], func(s string) bool { return s == "" }), ", ")
}

// factsOf is what a card tells when nothing runs.
func factsOf(j agent.JobStatus, now time.Time) []numberView {
	facts := []numberView{{"Newest verified copy", "none yet"}, {"Next copy", "only by hand"}}
	if !j.Newest.IsZero() {
		facts[0].Value = moment(now, j.Newest)
	}
	if !j.Next.IsZero() {
		facts[1].Value = moment(now, j.Next)
	}
	if j.NewestHour >= 0 {
		h := j.Board[j.NewestHour]
		facts = append(facts, numberView{"Files", count(h.Files.Files)}, numberView{"Size of one copy", size(h.Files.Bytes)})
		if !h.Oldest.IsZero() {
			facts = append(facts, numberView{"All read back since", moment(now, h.Oldest)})
		}
	}
	if j.Last != nil && j.Last.Outcome == store.Done {
		changed := j.Last.Copied.Files + j.Last.Updated.Files + j.Last.Removed.Files
		facts = append(facts, numberView{"Changed in the last run", files(changed)})
	}
	return facts
}

// cardActions are the buttons of a job, by its state.
func cardActions(j agent.JobStatus, paused bool) []actionView {
	at := jobURL(j.Job.ID)
	stop := actionView{Label: "Stop this run", Post: at + "/cancel", Busy: "Stopping…"}
	resume := actionView{Label: "Resume now", Post: "/resume", Busy: "Resuming…", Primary: true}
	switch {
	case paused && j.Run != nil:
		return []actionView{resume, stop}
	case paused:
		return []actionView{resume}
	case j.Run != nil:
		return []actionView{{Label: "❚❚ Pause", Post: "/pause", Name: "for", Value: "resume", Busy: "Pausing…"}, stop}
	}
	switch j.State {
	case agent.Waiting:
		return []actionView{stop}
	case agent.NoDrive:
		return nil
	case agent.Never:
		return []actionView{{Label: "Start first copy now", Post: at + "/run", Busy: "Starting…", Primary: true}}
	}
	return []actionView{{Label: "Copy now", Post: at + "/run", Busy: "Starting…", Primary: j.State == agent.Idle}}
}
