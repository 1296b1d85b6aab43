package web

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hourhand/hourhand/agent"
)

// sparkView is the last minute of a run in a box of 300 by 56: its speed, over
// bands for the seconds in which it gave way to others, under the line of its
// limit; and in words what that shows.
type sparkView struct {
	Summary    string // for who does not see the graph
	Line, Area string // of the speed, "" while none is known
	Gave       string // the bands, "" if it gave way to nobody
	Brim       string // their upper edges: a cue that is no colour
	Limit      string // "" without a limit, or if it is far above the speed
	GivesWay   string // a sentence while it does, or when it just did
	Takes      string // how much it takes meanwhile
	Pace       string // what it may take at all
}

const (
	sparkWidth  = 300.0
	sparkHeight = 56.0
	sparkValues = 60
	sparkStep   = sparkWidth / (sparkValues - 1)
	sparkHead   = 7 // kept free above the highest line
)

func sparkOf(r agent.RunStatus) sparkView {
	v := sparkView{Summary: summaryOfMinute(r), Pace: paceOf(r)}
	v.GivesWay, v.Takes = givesWayOf(r)
	if len(r.Speeds) == 0 {
		return v
	}
	top, _ := peakAndMean(r.Speeds)
	if limit := float64(r.Limit); limit > 0 && limit < 2*top { // further up it would press the speed down
		top = max(top, limit)
		v.Limit = fmt.Sprintf("M0 %.1fH%g", sparkY(limit, top), sparkWidth)
	}
	v.Line = sparkLine(r.Speeds, top)
	v.Area = fmt.Sprintf("%sL%g %gL%.1f %gZ", v.Line, sparkWidth, sparkHeight, sparkX(len(r.Speeds), 0), sparkHeight)
	v.Gave, v.Brim = sparkBands(r.Shares)
	return v
}

// sparkX is where the i-th of n seconds is: the newest is always at the right.
func sparkX(n, i int) float64 { return float64(sparkValues-n+i) * sparkStep }

func sparkY(value, top float64) float64 {
	if top <= 0 {
		return sparkHeight - 1
	}
	return sparkHeight - 1 - value/top*(sparkHeight-1-sparkHead)
}

func sparkLine(speeds []float64, top float64) string {
	var line strings.Builder
	for i, v := range speeds {
		fmt.Fprintf(&line, "%c%.1f %.1f", "ML"[min(i, 1)], sparkX(len(speeds), i), sparkY(v, top))
	}
	return line.String()
}

// sparkBands puts one band over seconds on end in which the run gave way.
func sparkBands(shares []float64) (bands, brims string) {
	for i := 0; i < len(shares); i++ {
		first := i
		for i < len(shares) && agent.GivesWay(shares[i]) {
			i++
		}
		if i == first {
			continue
		}
		from := max(0, sparkX(len(shares), first)-sparkStep/2)
		to := min(sparkWidth, sparkX(len(shares), i-1)+sparkStep/2)
		bands += fmt.Sprintf("M%.1f 0H%.1fV%gH%.1fZ", from, to, sparkHeight, from)
		brims += fmt.Sprintf("M%.1f 1.5H%.1f", from, to)
	}
	return bands, brims
}

func summaryOfMinute(r agent.RunStatus) string {
	if len(r.Speeds) == 0 {
		return "No speed known yet"
	}
	peak, mean := peakAndMean(r.Speeds)
	text := fmt.Sprintf("Speed in the last 60 seconds: average %s, peak %s", speed(mean), speed(peak))
	if n := secondsGivingWay(r); n > 0 {
		text += "; it gave way to others for " + plural(n, "second", "seconds")
	}
	if r.Limit > 0 {
		text += "; its limit is " + speed(float64(r.Limit))
	}
	return text
}

func peakAndMean(values []float64) (peak, mean float64) {
	for _, v := range values {
		peak = max(peak, v)
		mean += v / float64(len(values))
	}
	return peak, mean
}

func secondsGivingWay(r agent.RunStatus) (n int64) {
	for _, share := range r.Shares {
		if agent.GivesWay(share) {
			n++
		}
	}
	return n
}

// givesWayOf says to whom a run gives way now and what it still takes, or that it
// just did. A paused one gives way to a person, who knows.
func givesWayOf(r agent.RunStatus) (say, takes string) {
	pace := r.Progress.Pace
	switch n := secondsGivingWay(r); {
	case r.Progress.Paused:
		return "", ""
	case agent.GivesWay(pace.Share):
		to := cmp.Or(visible(pace.Yielded), "other programs")
		return stopped("Gives way to " + to), "It takes " + percent(pace.Share) + " of what it could."
	case n > 0:
		return "Gave way to others for " + plural(n, "second", "seconds") + " of the last minute.", ""
	}
	return "", ""
}

// paceOf says what a run may take at all; "" for a verification, which has no say.
func paceOf(r agent.RunStatus) string {
	var parts []string
	if r.Profile != "" {
		parts = append(parts, profileWord(r.Profile)+" pace")
	}
	if r.Limit > 0 {
		parts = append(parts, "at most "+speed(float64(r.Limit)))
	}
	return stopped(capital(strings.Join(parts, ", ")))
}
