package web

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// The ring's geometry, in the units of its viewBox "0 0 360 360": a sector of 13
// degrees per hour with 2 degrees between, 00 at the top, clockwise.
const (
	ringCentre = 180.0
	ringInner  = 112.0
	ringOuter  = 152.0
)

// hourKind is what a field of the ring, the strip and the hour list shows; its
// value is the class of its colours.
type hourKind string

const (
	kindFresh   hourKind = "ok"   // sealed within 24 hours
	kindOld     hourKind = "old"  // sealed longer ago
	kindRunning hourKind = "run"  // being written now
	kindFailed  hourKind = "bad"  // the last run for it failed
	kindLook    hourKind = "warn" // has problems, or waits for a person
	kindSkipped hourKind = "skip" // the last due passed without a run
	kindNever   hourKind = "none"
	kindLost    hourKind = "lost" // its drive is not connected
)

// glyph is the cue beside the colour.
func (k hourKind) glyph() string {
	switch k {
	case kindFailed:
		return "✕"
	case kindLook:
		return "!"
	case kindSkipped:
		return "–"
	}
	return ""
}

// word is the kind for the summary that a screen reader speaks.
func (k hourKind) word() string {
	switch k {
	case kindFresh:
		return "verified"
	case kindOld:
		return "verified longer ago"
	case kindRunning:
		return "running"
	case kindFailed:
		return "failed"
	case kindLook:
		return "to look at"
	case kindSkipped:
		return "skipped"
	case kindLost:
		return "not reachable"
	}
	return "never ran"
}

// kindOf judges one hour of a job's board.
func kindOf(j agent.JobStatus, hour int, now time.Time) hourKind {
	h := j.Board[hour]
	switch {
	case writes(j.Run, hour):
		return kindRunning
	case h.Content == "" && h.Outcome == "":
		return kindNever
	case j.State == agent.NoDrive:
		return kindLost
	}
	switch h.Outcome {
	case store.Failed, store.Interrupted:
		return kindFailed
	case store.Partial, store.Held:
		return kindLook
	case store.Skipped, store.Missed:
		return kindSkipped
	}
	switch {
	case h.Content == "":
		return kindNever
	case h.Content != contentSealed:
		return kindLook
	case now.Sub(h.To) > 24*time.Hour:
		return kindOld
	}
	return kindFresh
}

// contentSealed is engine.Sealed, as the board holds it.
const contentSealed = "sealed"

func writes(r *agent.RunStatus, hour int) bool {
	return r != nil && !r.Verify && slices.Contains(r.Hours, hour)
}

// legend is what a kind is called below the ring.
func (k hourKind) legend() string {
	switch k {
	case kindFresh:
		return "Verified"
	case kindOld:
		return "Older than a day"
	case kindRunning:
		return "Running"
	case kindFailed:
		return "✕ Failed"
	case kindLook:
		return "! Needs a look"
	case kindSkipped:
		return "– Skipped"
	case kindLost:
		return "Not reachable"
	}
	return "Never ran"
}

// ringView is the ring of one job.
type ringView struct {
	Legend          []legendView // of the kinds that it shows
	Summary         string
	Sectors         []sectorView
	Hand            string // path of the hour hand
	TipX, TipY      string
	Big, Mid, Small string
}

type legendView struct{ Class, Label string }

// sectorView is one hour of the ring.
type sectorView struct {
	HH     string
	Href   string
	Class  string
	Path   string
	Done   string // path of the running arc, or ""
	Glyph  string
	GlyphX string
	GlyphY string
	Label  string // at every third hour
	LabelX string
	LabelY string
	Tick   string // path, between the labels
}

// ringOf draws a job's ring; centre gives the three texts inside.
func ringOf(j agent.JobStatus, now time.Time, centre [3]string) ringView {
	v := ringView{Big: centre[0], Mid: centre[1], Small: centre[2]}
	tally := map[hourKind][]int{}
	next := nextHour(j, now)
	for hour := range 24 {
		kind := kindOf(j, hour, now)
		tally[kind] = append(tally[kind], hour)
		v.Sectors = append(v.Sectors, sectorOf(j, hour, kind, hour == next))
	}
	v.Summary, v.Legend = summaryOf(tally, next), legendOf(tally, next)
	angle := (float64(now.Hour()) + float64(now.Minute())/60) * 15
	x1, y1 := polar(angle, 86)
	x2, y2 := polar(angle, 106)
	v.Hand = "M" + x1 + " " + y1 + "L" + x2 + " " + y2
	v.TipX, v.TipY = x2, y2
	return v
}

// nextHour is the hour that is due next, -1 if none.
func nextHour(j agent.JobStatus, now time.Time) int {
	if j.Next.IsZero() {
		return -1
	}
	return j.Next.In(now.Location()).Hour()
}

func sectorOf(j agent.JobStatus, hour int, kind hourKind, next bool) sectorView {
	from, to := float64(hour)*15+1, float64(hour)*15+14
	s := sectorView{
		HH: hh(hour), Href: hourURL(j.Job.ID, hour), Class: string(kind),
		Path: sectorPath(from, to), Glyph: kind.glyph(),
	}
	if next && kind != kindRunning {
		s.Class += " next"
	}
	if kind == kindRunning {
		s.Class = "track"
		if share, known := progressOf(*j.Run); known && share > 0 {
			s.Done = sectorPath(from, from+(to-from)*share)
		}
	}
	s.GlyphX, s.GlyphY = polar((from+to)/2, (ringInner+ringOuter)/2)
	if hour%3 == 0 {
		s.Label = s.HH
		s.LabelX, s.LabelY = polar((from+to)/2, 168)
	} else {
		x1, y1 := polar((from+to)/2, 159)
		x2, y2 := polar((from+to)/2, 163)
		s.Tick = "M" + x1 + " " + y1 + "L" + x2 + " " + y2
	}
	return s
}

// sectorPath draws a piece of the ring between two angles in degrees.
func sectorPath(from, to float64) string {
	ax, ay := polar(from, ringOuter)
	bx, by := polar(to, ringOuter)
	cx, cy := polar(to, ringInner)
	dx, dy := polar(from, ringInner)
	return fmt.Sprintf("M%s %sA%g %g 0 0 1 %s %sL%s %sA%g %g 0 0 0 %s %sZ",
		ax, ay, ringOuter, ringOuter, bx, by, cx, cy, ringInner, ringInner, dx, dy)
}

func polar(degrees, radius float64) (x, y string) {
	rad := degrees * math.Pi / 180
	return fmt.Sprintf("%.1f", ringCentre+radius*math.Sin(rad)), fmt.Sprintf("%.1f", ringCentre-radius*math.Cos(rad))
}

// kinds in the order in which they are spoken and explained.
var kinds = []hourKind{kindFresh, kindOld, kindFailed, kindLook, kindRunning, kindSkipped, kindLost, kindNever}

func legendOf(tally map[hourKind][]int, next int) []legendView {
	var list []legendView
	for _, kind := range kinds {
		if len(tally[kind]) > 0 {
			list = append(list, legendView{string(kind), kind.legend()})
		}
	}
	if next >= 0 && !slices.Contains(tally[kindRunning], next) {
		list = append(list, legendView{"next", "Next"})
	}
	return list
}

// summaryOf says what the ring shows: "19 verified, 1 failed at 03, ...".
func summaryOf(tally map[hourKind][]int, next int) string {
	var say []string
	for _, kind := range kinds {
		hours := tally[kind]
		if len(hours) == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", len(hours), kind.word())
		if len(hours) <= 3 {
			text += " at " + hourList(hours)
		}
		say = append(say, text)
	}
	if next >= 0 {
		say = append(say, "next "+hh(next))
	}
	return "Clock of 24 hourly copies: " + strings.Join(say, ", ") + "."
}

func hourList(hours []int) string {
	var names []string
	for _, h := range hours {
		names = append(names, hh(h))
	}
	return strings.Join(names, ", ")
}
