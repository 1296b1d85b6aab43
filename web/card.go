package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

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
		c.Live, c.Spark = &live, sparkOf(*j.Run)
		return c
	}
	c.Facts = factsOf(j, now)
	return c
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
