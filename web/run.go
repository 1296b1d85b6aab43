package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// runView is the page of one run: its report.
type runView struct {
	chrome
	Heading  string
	Name     string
	JobHref  string
	HH       string
	HourHref string
	Badge    badgeView
	Reason   string
	Hint     string
	Live     *liveView // while it is at work
	Spark    sparkView // with Live
	Facts    []numberView
	Counts   []countRow
	Proof    []shareView
	Notes    []string
	Proved   string // heading of the proof
	Found    string // heading of the problems
	Problems []problemGroup
	More     string // how many problems are not listed
	Plan     *planView
	Actions  []actionView
}

type countRow struct{ Name, Files, Size, Say string }

// problemGroup is the problems of one cause, with its hint.
type problemGroup struct {
	Title, Text string
	Count       string
	Files       []problemRow
	Rest        []problemRow // of a long list: folded
}

type problemRow struct{ Path, Error string }

// planView is what waits for a person.
type planView struct {
	Title   string
	After   string // what became of it, "" while it waits
	Run     string // address of the run that carried it out
	RunSay  string
	Sum     []numberView
	Items   []planRow
	Rest    []planRow // of a long list: folded
	More    string
	Approve *actionView
	ID      string
}

type planRow struct{ Op, Path, Size, Reason string }

func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	v, err := s.runPage(s.status(), chi.URLParam(r, "id"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "run", v)
}

func (s *Server) runPage(st agent.Status, id string) (runView, error) {
	r, err := s.store.Run(id)
	if err != nil {
		return runView{}, err
	}
	problems, err := s.store.Problems(id)
	if err != nil {
		return runView{}, err
	}
	now := st.Now
	v := runView{
		chrome: s.chromeOf(st, runTitle(r, now), "", "run/"+id), Heading: runHeading(r, now),
		Name: visible(r.JobName), JobHref: jobURL(r.Job), Badge: runBadge(r), Reason: stopped(capital(visible(r.Reason))),
		Facts: runFacts(r, now), Counts: countsOf(r), Proof: proofOf(r.Verified), Problems: groupProblems(r, problems),
	}
	if r.Hour >= 0 {
		v.HH, v.HourHref = hh(r.Hour), hourURL(r.Job, r.Hour)
	}
	v.Found, v.Proved = "Problems", "How what was copied is proved"
	if r.Trigger == triggerVerify {
		v.Found, v.Proved = "What was found", "How it was read back"
	}
	if r.Cause != "" {
		v.Hint = hintIn(r, r.Cause).Text
	}
	for _, note := range r.Notes {
		v.Notes = append(v.Notes, visible(note))
	}
	if rest := r.ProblemCount - int64(len(problems)); rest > 0 && len(problems) > 0 {
		v.More = fmt.Sprintf("and %s more; the first %s are listed", count(rest), count(int64(len(problems))))
	}
	v.Notes = append(v.Notes, proofNotes(r)...)
	v.now(st, r)
	if r.Outcome == store.Held && v.Plan != nil && v.Plan.Approve == nil {
		err = s.afterHeld(&v, st, r)
	}
	return v, err
}

// afterHeld says what became of a list that does not wait any more.
func (s *Server) afterHeld(v *runView, st agent.Status, held store.Run) error {
	v.Plan.Title, v.Hint = "What waited for you", ""
	later, err := s.runsOf(st, func(r store.Run) bool {
		return r.Job == held.Job && r.Hour == held.Hour && r.Trigger == triggerApprove && r.Started.After(held.Started)
	})
	if len(later) == 0 {
		v.Plan.After = "This list does not wait any more: a newer run took its place."
		return err
	}
	first := later[len(later)-1] // newest first
	v.Plan.After = "Approved. What became of it:"
	v.Plan.Run, v.Plan.RunSay = runURL(first.ID), lowerFirst(runHeading(first, st.Now))
	return err
}

// proofNotes explain why fewer files are proved anew than a copy holds.
func proofNotes(r store.Run) []string {
	copied := r.Copied.Files + r.Updated.Files
	proved := r.Verified.Device.Files + r.Verified.Server.Files + r.Verified.Cache.Files + r.Verified.Source.Files
	switch {
	case r.Trigger == triggerVerify || !r.Sealed:
		return nil
	case copied == 0:
		return []string{"Nothing was copied, so nothing had to be read back: unchanged files keep the proof that they have, which the page of the hour shows."}
	case proved > 0 && proved < copied:
		return []string{fmt.Sprintf("%s of what was copied have no bytes of their own to read back: links, and further names of one file.", files(copied-proved))}
	}
	return nil
}

func runTitle(r store.Run, now time.Time) string {
	return visible(r.JobName) + ", " + lowerFirst(runHeading(r, now)) + ": " + lowerFirst(runBadge(r).Text)
}

// runHeading is "Run of today 13:00", "Hour 14 by hand, today 13:52",
// "Verification of hour 13, yesterday 13:52".
func runHeading(r store.Run, now time.Time) string {
	at := moment(now, whenOf(r))
	if daysBetween(whenOf(r).In(now.Location()), now) == 0 {
		at = "today " + at
	}
	switch {
	case r.Trigger == triggerVerify:
		return "Verification of " + hoursOf([]int{r.Hour}) + ", " + at
	case r.Due.IsZero():
		return capital(hoursOf([]int{r.Hour})) + " by hand, " + at
	}
	return "Run of " + at
}

// now adds what depends on the present: progress, the plan that still waits, and
// what can be done about it.
func (v *runView) now(st agent.Status, r store.Run) {
	j, err := statusOf(st, r.Job)
	if err != nil {
		return // the job is gone, its report stays
	}
	if j.Run != nil && j.Run.ID == r.ID {
		live := liveOf(*j.Run)
		v.Live, v.Spark = &live, sparkOf(*j.Run)
		v.Actions = cardActions(j, st.Pause.On)
		return
	}
	waits := j.State == agent.Held && j.Last != nil && j.Last.ID == r.ID
	v.Plan = planOf(r, waits)
	latest := j.Last != nil && j.Last.ID == r.ID
	switch {
	case st.Pause.On || j.Run != nil || r.Outcome == store.Done:
	case damaged(r):
		v.Actions = []actionView{repairAction(r.Job, r.Hour)}
	case latest && !waits:
		v.Actions = []actionView{{Label: "Try again now", Post: jobURL(r.Job) + "/run", Busy: "Starting…"}}
	}
}

func runFacts(r store.Run, now time.Time) []numberView {
	var facts []numberView
	if !r.Due.IsZero() {
		facts = append(facts, numberView{"Due", moment(now, r.Due)})
	}
	if !r.Started.IsZero() {
		facts = append(facts, numberView{"Started", moment(now, r.Started)})
	}
	if !r.Ended.IsZero() && !r.Started.IsZero() {
		facts = append(facts, numberView{"Took", took(r.Ended.Sub(r.Started))})
	}
	facts = append(facts, numberView{"Begun", triggerWord(r.Trigger)})
	if r.Outcome == store.Done || r.Outcome == store.Partial || r.Sealed {
		facts = append(facts, numberView{"Hour sealed", yesNo(r.Sealed)})
	}
	return facts
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// countsOf is the account of a run. A run that never began has none.
func countsOf(r store.Run) []countRow {
	if r.Outcome == store.Skipped || r.Outcome == store.Missed {
		return nil
	}
	if r.Trigger == triggerVerify {
		return []countRow{
			{"Equal", count(r.Unchanged.Files), size(r.Unchanged.Bytes), "their bytes are those of the list of checksums"},
			{"Found", count(r.ProblemCount), "", "not as they were when the hour was sealed"},
		}
	}
	row := func(name, say string, c store.Count) countRow {
		return countRow{name, count(c.Files), size(c.Bytes), say}
	}
	rows := []countRow{
		row("New", "copied for the first time", r.Copied),
		row("Changed", "replaced in the copy", r.Updated),
		row("Removed", "gone from the source", r.Removed),
		row("Unchanged", "compared and left", r.Unchanged),
	}
	out := r.LeftOut
	for _, left := range []struct {
		name, say string
		n         int64
	}{
		{"Excluded", "left out by a rule", out.Excluded},
		{"Special files", "sockets, pipes and devices are left out", out.Special},
		{"Other drives", "mounted below the source, left out", out.Mount},
	} {
		if left.n > 0 {
			rows = append(rows, countRow{left.name, count(left.n), "", left.say})
		}
	}
	if r.ProblemCount > 0 {
		rows = append(rows, countRow{"Problems", count(r.ProblemCount), "", "not copied, or in an older state"})
	}
	return rows
}

// groupProblems puts the problems of one cause together, in the order in which
// the causes first occur.
func groupProblems(r store.Run, problems []store.Problem) []problemGroup {
	var groups []problemGroup
	at := map[string]int{}
	for _, p := range problems {
		h := hintIn(r, p.Cause)
		i, ok := at[h.Title]
		if !ok {
			i = len(groups)
			at[h.Title] = i
			groups = append(groups, problemGroup{Title: h.Title, Text: h.Text})
		}
		groups[i].Files = append(groups[i].Files, problemRow{visible(p.Path), visible(p.Error)})
	}
	for i := range groups {
		g := &groups[i]
		g.Count = files(int64(len(g.Files)))
		if len(g.Files) > openItems {
			g.Files, g.Rest = g.Files[:openItems], g.Files[openItems:]
		}
	}
	return groups
}

// plan mirrors the JSON of engine.Plan, as a run keeps it.
type plan struct {
	ID      string      `json:"id"`
	Reason  string      `json:"reason"`
	Against string      `json:"against"`
	Add     store.Count `json:"add"`
	Replace store.Count `json:"replace"`
	Remove  store.Count `json:"remove"`
	Of      int64       `json:"of"`
	Items   []struct {
		Op     string `json:"op"`
		Path   string `json:"path"`
		Bytes  int64  `json:"bytes"`
		Reason string `json:"reason"`
	} `json:"items"`
}

// openItems of a list of files are shown at once; more would push the rest of the
// page far down.
const openItems = 20

// planOf shows a held run's plan; it can be approved while it waits.
func planOf(r store.Run, waits bool) *planView {
	var p plan
	if len(r.Plan) == 0 || json.Unmarshal(r.Plan, &p) != nil {
		return nil
	}
	v := &planView{ID: p.ID, Title: "What waits for you", Sum: []numberView{
		{"Would be removed", fmt.Sprintf("%s of %s, %s", count(p.Remove.Files), files(p.Of), size(p.Remove.Bytes))},
		{"Would be replaced", files(p.Replace.Files) + ", " + size(p.Replace.Bytes)},
	}}
	if p.Against != "" {
		v.Sum = append(v.Sum, numberView{"Compared with", "hour " + visible(p.Against)})
	}
	for _, item := range p.Items {
		v.Items = append(v.Items, planRow{visible(item.Op), visible(item.Path), size(item.Bytes), visible(item.Reason)})
	}
	if len(v.Items) > openItems {
		v.Items, v.Rest = v.Items[:openItems], v.Items[openItems:]
	}
	if rest := p.Remove.Files + p.Replace.Files - int64(len(p.Items)); rest > 0 && len(p.Items) > 0 {
		v.More = fmt.Sprintf("and %s more", count(rest))
	}
	if waits {
		v.Approve = &actionView{Label: "Approve this list", Post: jobURL(r.Job) + "/approve", Name: "plan", Value: p.ID, Busy: "Starting…"}
	}
	return v
}
