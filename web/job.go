package web

import (
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// shownRuns is how many runs a job's page lists; the days' links lead to more.
const shownRuns = 12

// jobView is the page of one job.
type jobView struct {
	chrome
	Name     string
	Notices  []noticeView
	Warnings []noticeView // of the form that was just saved
	Card     cardView
	Hours    hoursView
	Week     weekView
	Runs     runsView
	Day      *runsView
	Settings []numberView
	Paths    []numberView
	EditURL  string
	Fill     string // where the form goes
	Verify   string
}

// hoursView lists the hours: the way through the ring by keyboard.
type hoursView struct {
	Rows  []hourRow
	Empty []hourRow // never written: only named
}

// hourRow is one hour in a job's list.
type hourRow struct {
	HH    string
	Href  string
	Class string
	Glyph string
	Holds string
	When  stamp
	Proof string
	Files string
	Size  string
	Last  badgeView
	Run   string // address of the last run, or ""
}

// runsView is a list of runs.
type runsView struct {
	Title   string
	Rows    []runRow
	ShowJob bool // rows of several jobs
	OneHour bool // all rows are of one hour
	Empty   string
}

type runRow struct {
	Href    string
	Job     string
	HH      string
	When    stamp
	Trigger string
	Outcome badgeView
	Changed string
	Took    string
}

func (s *Server) job(w http.ResponseWriter, r *http.Request) {
	st := s.status()
	id := chi.URLParam(r, "id")
	v, err := s.jobPage(st, id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	v.Warnings = s.warnings.take(id)
	if day, err := time.ParseInLocation(time.DateOnly, r.FormValue("day"), st.Now.Location()); err == nil {
		if v.Day, err = s.runsOfDay(id, day, st.Now); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	s.page(w, http.StatusOK, "job", v)
}

// statusOf finds a job in a snapshot.
func statusOf(st agent.Status, id string) (agent.JobStatus, error) {
	i := slices.IndexFunc(st.Jobs, func(j agent.JobStatus) bool { return j.Job.ID == id })
	if i < 0 {
		return agent.JobStatus{}, store.ErrNotFound
	}
	return st.Jobs[i], nil
}

func (s *Server) jobPage(st agent.Status, id string) (jobView, error) {
	j, err := statusOf(st, id)
	if err != nil {
		return jobView{}, err
	}
	now, at := st.Now, jobURL(id)
	v := jobView{
		chrome: s.chromeOf(st, visible(j.Job.Name)+": "+badgeOf(j).Text, "", "job/"+id),
		Name:   visible(j.Job.Name), Card: cardOf(j, st, true), Settings: settingsOf(j.Job),
		EditURL: at + "/edit", Fill: at + "/fill", Verify: at + "/verify",
	}
	if n, ok := noticeOf(j, now); ok {
		v.Notices = append(v.Notices, n)
	}
	for hour := range 24 {
		row := hourRowOf(j, hour, now)
		if row.Class == string(kindNever) && row.Run == "" {
			v.Hours.Empty = append(v.Hours.Empty, row)
			continue
		}
		v.Hours.Rows = append(v.Hours.Rows, row)
	}
	own, err := s.runsOf(st, func(r store.Run) bool { return r.Job == id })
	if err != nil {
		return v, err
	}
	v.Week = weekOf(own, []agent.JobStatus{j}, now, func(day string) string { return at + "?day=" + day + "#day" })
	v.Runs = runsView{Title: "Latest runs", Rows: runRows(own[:min(len(own), shownRuns)], now), Empty: "The first run appears here."}
	return v, nil
}

// runsOf picks from the runs of the last days, newest first.
func (s *Server) runsOf(st agent.Status, which func(store.Run) bool) ([]store.Run, error) {
	all, err := s.recent.all(st, st.Now)
	if err != nil {
		return nil, err
	}
	var picked []store.Run
	for _, r := range all {
		if which(r) {
			picked = append(picked, r)
		}
	}
	return picked, nil
}

func hourRowOf(j agent.JobStatus, hour int, now time.Time) hourRow {
	h, kind := j.Board[hour], kindOf(j, hour, now)
	row := hourRow{
		HH: hh(hour), Href: hourURL(j.Job.ID, hour), Class: string(kind), Glyph: kind.glyph(),
		Holds: contentWord(h.Content), Proof: proofWord(h.Verified),
	}
	if kind == kindRunning {
		row.Holds = "being written"
	}
	if h.Content == contentSealed {
		row.When = stampOf(now, h.To)
	}
	if h.Files.Files > 0 {
		row.Files, row.Size = count(h.Files.Files), size(h.Files.Bytes)
	}
	if h.Outcome != "" {
		row.Last, row.Run = outcomeBadge(h.Outcome), runURL(h.LastRun)
	}
	return row
}

// contentWord says in a word what an hour holds (engine.Content).
func contentWord(content string) string {
	switch content {
	case "":
		return "empty"
	case contentSealed:
		return "verified"
	case "writing":
		return "half written"
	case "superset":
		return "nothing removed yet"
	case "mixed":
		return "old and new files"
	case "adopted":
		return "taken over"
	}
	return visible(content)
}

// proofWord says how the files of an hour are proved, by the weakest proof that
// any of them has.
func proofWord(v store.Verified) string {
	switch {
	case v.Source.Files > 0 && v.Device.Files+v.Cache.Files+v.Server.Files == 0:
		return "not read back"
	case v.Source.Files > 0:
		return "partly read back"
	case v.Server.Files > 0:
		return "read back from the server"
	case v.Cache.Files > 0 && v.Device.Files == 0:
		return "read back"
	case v.Cache.Files > 0:
		return "read back, mostly from the drive"
	case v.Device.Files > 0:
		return "read back from the drive"
	}
	return ""
}

func runRows(runs []store.Run, now time.Time) []runRow {
	var rows []runRow
	for _, r := range runs {
		rows = append(rows, runRowOf(r, now))
	}
	return rows
}

func runRowOf(r store.Run, now time.Time) runRow {
	row := runRow{
		Href: runURL(r.ID), Job: visible(r.JobName), HH: "–", When: stampOf(now, whenOf(r)),
		Trigger: triggerWord(r.Trigger), Outcome: runBadge(r),
	}
	if r.Hour >= 0 {
		row.HH = hh(r.Hour)
	}
	if !r.Ended.IsZero() && r.Ended.After(r.Started) && !r.Started.IsZero() {
		row.Took = took(r.Ended.Sub(r.Started))
	}
	row.Changed = changedWord(r)
	return row
}

func changedWord(r store.Run) string {
	if r.Outcome == store.Skipped || r.Outcome == store.Missed {
		return ""
	}
	if r.Trigger == triggerVerify {
		return files(r.Unchanged.Files) + " equal" + notRight(r.ProblemCount)
	}
	n := r.Copied.Files + r.Updated.Files
	if n+r.Removed.Files == 0 {
		return "nothing changed"
	}
	text := files(n) + ", " + size(r.Copied.Bytes+r.Updated.Bytes)
	if r.Removed.Files > 0 {
		text += ", " + count(r.Removed.Files) + " removed"
	}
	return text
}

// notRight is what a verification found, after what it found equal.
func notRight(n int64) string {
	if n == 0 {
		return ""
	}
	return ", " + count(n) + " not"
}

const (
	triggerVerify  = "verify"  // the record of a verification: it copied nothing
	triggerApprove = "approve" // the run that carries an approved list out
)

func triggerWord(trigger string) string {
	switch trigger {
	case "schedule":
		return "by schedule"
	case "catch-up":
		return "caught up"
	case "hand":
		return "by hand"
	case "fill":
		return "filling hours"
	case triggerApprove:
		return "after approval"
	case triggerVerify:
		return "verification"
	}
	return visible(trigger)
}

// runsOfDay lists what ran on one day; job "" means all jobs.
func (s *Server) runsOfDay(job string, day, now time.Time) (*runsView, error) {
	runs, err := runsSince(s.store, job, day)
	if err != nil {
		return nil, err
	}
	end := day.AddDate(0, 0, 1)
	runs = slices.DeleteFunc(runs, func(r store.Run) bool { return whenOf(r).Before(day) || !whenOf(r).Before(end) })
	return &runsView{
		Title: day.Format("Monday, 2 January"), Rows: runRows(runs, now), ShowJob: job == "",
		Empty: "Nothing ran on this day.",
	}, nil
}

// hourPath is where an hour's files are.
func hourPath(j store.Job, hour int) string { return filepath.Join(j.Target, hh(hour)) }
