package web

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// renderParts renders what the stream keeps fresh in one view.
func (s *Server) renderParts(view string, st agent.Status) ([]part, error) {
	kind, rest, _ := strings.Cut(view, "/")
	var p partList
	switch kind {
	case "overview":
		v, err := s.overviewOf(st)
		if err != nil {
			return nil, err
		}
		p.overview(v)
	case "job":
		v, err := s.jobPage(st, rest)
		if err != nil {
			return nil, err
		}
		p.job(v)
	case "hour":
		id, hour, _ := strings.Cut(rest, "/")
		v, err := s.hourPage(st, id, hour)
		if err != nil {
			return nil, err
		}
		p.add("page-title", "text", v.Title)
		p.add("hour", "hour-body", v)
	case "run":
		v, err := s.runPage(st, rest)
		if err != nil {
			return nil, err
		}
		p.add("page-title", "text", v.Title)
		p.add("run", "run-body", v)
	case "page":
	default:
		return nil, fmt.Errorf("view %q: %w", view, store.ErrNotFound)
	}
	p.add("bar", "bar", barOf(st))
	p.add("icon-now", "icon-now", iconOf(st.State))
	p.add("clock-now", "text", moment(st.Now, st.Now))
	p.say(st)
	return p.parts, p.err
}

// partList collects rendered parts and the first error.
type partList struct {
	parts []part
	err   error
}

func (p *partList) add(target, name string, view any) {
	html, err := render(name, view)
	p.err = errors.Join(p.err, err)
	p.parts = append(p.parts, part{target: target, html: html})
}

func (p *partList) overview(v overviewView) {
	p.add("page-title", "text", v.Title)
	p.add("answer", "answer", v.Answer)
	p.add("notices", "notices", v.Notices)
	p.cards(v.Cards)
	p.add("week", "week", v.Week)
}

func (p *partList) job(v jobView) {
	p.add("page-title", "text", v.Title)
	p.add("notices", "notices", v.Notices)
	p.cards([]cardView{v.Card})
	p.add("hours", "hours", v.Hours)
	p.add("week", "week", v.Week)
	p.add("runs", "runs", v.Runs)
}

// cards sends all cards when one comes, goes, opens or changes its inside, else
// only what moves in them: numbers at each tick, the speed line once a second.
func (p *partList) cards(cards []cardView) {
	var shape strings.Builder
	for _, c := range cards {
		fmt.Fprintf(&shape, "%s %s %t %t|", c.ID, c.Name, c.Open, c.Live != nil)
	}
	p.add("cards", "cards", cards)
	p.parts[len(p.parts)-1].key = shape.String()
	for _, c := range cards {
		p.card(c)
	}
}

func (p *partList) card(c cardView) {
	p.add("badge-"+c.ID, "badge", c.Badge)
	p.add("actions-"+c.ID, "actions", c.Actions)
	if !c.Open {
		p.add("strip-"+c.ID, "strip", c)
		return
	}
	p.add("ring-"+c.ID, "ring", c.Ring)
	p.add("legend-"+c.ID, "legend", c.Ring.Legend)
	if c.Live == nil {
		p.add("facts-"+c.ID, "numbers", c.Facts)
		return
	}
	p.add("live-"+c.ID, "live", c.Live)
	p.add("now-"+c.ID, "now", c.Live)
	p.add("spark-"+c.ID, "spark", c.Spark)
	p.parts[len(p.parts)-1].rest = time.Second
}

// sayRest is the least time between two announcements of progress.
const sayRest = 30 * time.Second

// say is what a screen reader is told, and only that: beginnings, quarters, ends.
func (p *partList) say(st agent.Status) {
	text, progress := announcement(st)
	p.add("say", "text", text)
	if progress {
		p.parts[len(p.parts)-1].rest = sayRest
	}
}

func announcement(st agent.Status) (text string, progress bool) {
	for _, j := range st.Jobs {
		name := visible(j.Job.Name)
		switch {
		case j.Run != nil:
			share, known := progressOf(*j.Run)
			if quarter := int(share*4) * 25; known && quarter > 0 && quarter < 100 {
				return fmt.Sprintf("%s: %d%% done", name, quarter), true
			}
			return name + ": " + lowerFirst(workOf(*j.Run)) + " has begun", false
		case j.Last != nil && st.Now.Sub(j.Last.Ended) < 2*time.Minute:
			return name + ": " + hoursOf([]int{j.Last.Hour}) + " " + endWord(j.Last.Outcome), false
		}
	}
	return "", false
}

func endWord(outcome string) string {
	switch outcome {
	case store.Done:
		return "is copied and verified"
	case store.Partial:
		return "is copied with problems"
	case store.Held:
		return "waits for you"
	case store.Cancelled:
		return "was stopped"
	}
	return "failed"
}
