package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// hourView is the page of one hour of a job.
type hourView struct {
	chrome
	HH, Name string
	JobHref  string
	Badge    badgeView
	State    string // a sentence: what the folder holds
	Facts    []numberView
	Proof    []shareView
	Since    string // "every file read back since"
	Damage   bool   // the last run for it, a verification, found damage
	Path     string
	Empty    bool // there may be no folder yet
	Notes    []string
	Actions  []actionView
	Runs     runsView
	Prev     string // address of the hour before
	Next     string
}

// shareView is one kind of proof with its share of the files.
type shareView struct {
	Class, Name, Percent, Files string
	Width                       float64 // of a bar of 100
	X                           float64
}

func (s *Server) hour(w http.ResponseWriter, r *http.Request) {
	v, err := s.hourPage(s.status(), chi.URLParam(r, "id"), chi.URLParam(r, "hh"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "hour", v)
}

// parseHour takes exactly "00" to "23".
func parseHour(text string) (int, error) {
	hour, err := strconv.Atoi(text)
	if err != nil || text != hh(hour) || hour > 23 {
		return 0, fmt.Errorf("hour %q: %w", text, store.ErrNotFound)
	}
	return hour, nil
}

func (s *Server) hourPage(st agent.Status, id, text string) (hourView, error) {
	hour, err := parseHour(text)
	if err != nil {
		return hourView{}, err
	}
	j, err := statusOf(st, id)
	if err != nil {
		return hourView{}, err
	}
	h, now, name := j.Board[hour], st.Now, visible(j.Job.Name)
	v := hourView{
		chrome: s.chromeOf(st, "Hour "+hh(hour)+" of "+name, "", "hour/"+id+"/"+hh(hour)),
		HH:     hh(hour), Name: name, JobHref: jobURL(id), Path: visible(hourPath(j.Job, hour)), Empty: h.Content == "",
		Badge: hourBadge(j, hour, now), State: hourSentence(j, hour, now), Proof: proofOf(h.Verified),
		Actions: hourActions(j, hour, st.Pause.On),
		Prev:    hourURL(id, (hour+23)%24), Next: hourURL(id, (hour+1)%24),
	}
	if !h.Oldest.IsZero() {
		v.Since = moment(now, h.Oldest)
	}
	for _, note := range h.Notes {
		v.Notes = append(v.Notes, visible(note))
	}
	runs, err := s.runsOf(st, func(r store.Run) bool { return r.Job == id && r.Hour == hour })
	if err != nil {
		return v, err
	}
	v.Facts = hourFacts(h, runs, now)
	v.damage(j, hour, runs)
	v.Runs = runsView{Title: "This hour before", Rows: runRows(runs, now), OneHour: true, Empty: "No run has written this hour yet."}
	return v, nil
}

// damage tells what a verification found if no run has written the hour since.
func (v *hourView) damage(j agent.JobStatus, hour int, runs []store.Run) {
	i := slices.IndexFunc(runs, func(r store.Run) bool { return r.ID == j.Board[hour].LastRun })
	if i < 0 || !damaged(runs[i]) || writes(j.Run, hour) {
		return
	}
	r := runs[i]
	v.Damage, v.Badge = true, badgeView{"bad", "✕", "Damaged"}
	v.State = stopped(capital(visible(r.Reason))) + " Apart from that " + lowerFirst(v.State)
	see := actionView{Label: "See what was found", Href: runURL(r.ID) + "#problems"}
	if len(v.Actions) > 0 { // nothing can be started otherwise
		v.Actions = append([]actionView{repairAction(j.Job.ID, hour), see}, v.Actions...)
		v.Actions[0].Primary = true
		return
	}
	v.Actions = []actionView{see}
}

func hourBadge(j agent.JobStatus, hour int, now time.Time) badgeView {
	kind := kindOf(j, hour, now)
	b := badgeView{Class: string(kind), Glyph: kind.glyph()}
	switch kind {
	case kindFresh:
		b.Glyph, b.Text = "✓", "Verified"
	case kindOld:
		b.Class, b.Glyph, b.Text = "ok", "✓", "Verified, "+ago(now, j.Board[hour].To)
	case kindRunning:
		return badgeView{"run", "●", "Being written"}
	case kindNever:
		b = badgeView{"off", "○", "Empty"}
	case kindLost:
		b = badgeView{"bad", "⚠", "Drive missing"}
	default:
		b = outcomeBadge(j.Board[hour].Outcome)
	}
	return b
}

// hourSentence says what stands in the hour's folder now, whatever the last run
// for it did.
func hourSentence(j agent.JobStatus, hour int, now time.Time) string {
	h := j.Board[hour]
	if writes(j.Run, hour) {
		return "It is being written now. Until it is sealed, files of two times stand side by side; each of them is whole."
	}
	switch h.Content {
	case "":
		return "Nothing has been copied into this hour yet."
	case contentSealed:
		return capital(fmt.Sprintf("%sit equals the source as it was read %s.", sealedBut(h), readSpan(h, now)))
	case "writing":
		return "The last run ended half-way: files of two times stand side by side. Each of them is whole. The next run for this hour puts it right."
	case "superset":
		return "Everything new is in it. Nothing was removed, since that waits for you."
	case "mixed":
		return "Old and new files stand side by side, since the last run stopped. Each of them is whole. The next run for this hour puts it right."
	case "adopted":
		return "It was taken over from a copy that was there before. Its files are not proved yet."
	}
	return visible(h.Content)
}

// readSpan is "today from 14:00 to 14:03".
func readSpan(h store.Hour, now time.Time) string {
	from, to := h.From.In(now.Location()), h.To.In(now.Location())
	if midnight(from) == midnight(to) && from.Format("15:04") == to.Format("15:04") {
		return "at " + moment(now, to)
	}
	return "from " + moment(now, from) + " to " + to.Format("15:04")
}

// sealedBut begins the sentence of an hour that is sealed with problems.
func sealedBut(h store.Hour) string {
	if h.Problems == 0 {
		return ""
	}
	return "apart from " + files(h.Problems) + ", not copied or kept in an older state, "
}

// hourFacts are the numbers of the copy and of the run that sealed it.
func hourFacts(h store.Hour, runs []store.Run, now time.Time) []numberView {
	if h.Content == "" {
		return nil
	}
	facts := []numberView{{"Files", count(h.Files.Files)}, {"Size", size(h.Files.Bytes)}}
	for _, r := range runs {
		if r.ID == h.SealedBy {
			facts = append(facts, numberView{"Changed by that run", changedWord(r)}, numberView{"It took", took(r.Ended.Sub(r.Started))})
		}
	}
	if h.Due.IsZero() {
		return append(facts, numberView{"Made", "by hand"})
	}
	return append(facts, numberView{"Made for", moment(now, h.Due)})
}

// proofOf is the share of each kind of proof, strongest first.
func proofOf(v store.Verified) []shareView {
	kinds := []struct {
		class, name string
		files       int64
	}{
		{"device", "read back from the drive, past this computer's memory", v.Device.Files},
		{"server", "read back from the server", v.Server.Files},
		{"cache", "read back, though perhaps from this computer's memory", v.Cache.Files},
		{"source", "only its checksum was taken while copying", v.Source.Files},
	}
	total := v.Device.Files + v.Server.Files + v.Cache.Files + v.Source.Files
	var list []shareView
	x := 0.0
	for _, k := range kinds {
		if k.files == 0 {
			continue
		}
		share := float64(k.files) / float64(total)
		list = append(list, shareView{Class: k.class, Name: k.name, Percent: shareWord(share), Files: files(k.files), Width: share * 100, X: x})
		x += share * 100
	}
	return list
}

// shareWord rounds towards the middle: what is not all is never 100%.
func shareWord(share float64) string {
	switch {
	case share < 1 && share > 0.99:
		return "over 99%"
	case share > 0 && share < 0.01:
		return "under 1%"
	}
	return fmt.Sprintf("%.0f%%", share*100)
}

func hourActions(j agent.JobStatus, hour int, paused bool) []actionView {
	at := jobURL(j.Job.ID)
	if j.Run != nil || paused || j.State == agent.NoDrive {
		return nil
	}
	copyNow := actionView{Label: "Copy this hour now", Post: at + "/run", Name: "hour", Value: hh(hour), Busy: "Starting…"}
	if j.Board[hour].Content == "" {
		return []actionView{copyNow}
	}
	verify := actionView{Label: "Verify again", Post: at + "/verify", Name: "hour", Value: hh(hour), Busy: "Starting…"}
	if holds(j, hour) {
		return append(approveActions(j), verify)
	}
	return []actionView{verify, copyNow}
}
