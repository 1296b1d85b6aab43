package web

import (
	"fmt"
	"time"

	"github.com/hourhand/hourhand/agent"
)

// progressOf is how much of a run is done, from 0 to 1; not known while the
// source is still being counted.
func progressOf(r agent.RunStatus) (share float64, known bool) {
	p := r.Progress
	if !p.TotalsKnown {
		return 0, false
	}
	for _, of := range [][2]int64{{p.CopyDone, p.CopyTotal}, {p.BytesDone, p.BytesTotal}, {p.FilesDone, p.FilesTotal}} {
		if of[1] > 0 {
			return min(float64(of[0])/float64(of[1]), 1), true
		}
	}
	return 1, true
}

// percent writes 0.62 as "62%". 100% is kept for what is done.
func percent(share float64) string {
	if share < 1 {
		share = min(share, 0.99)
	}
	return fmt.Sprintf("%d%%", int(share*100))
}

// timeLeft is a guess; 0 if there is nothing to guess from.
func timeLeft(r agent.RunStatus) time.Duration {
	p := r.Progress
	left := p.CopyTotal - p.CopyDone
	if !p.TotalsKnown || p.Speed <= 0 || left <= 0 {
		return 0
	}
	return time.Duration(float64(left) / p.Speed * float64(time.Second))
}

// liveView is the numbers of a run at work.
type liveView struct {
	Label   string // of the progress bar: "Copying hour 14"
	Known   bool   // false: the bar shows that something goes on, not how much
	Percent int
	Step    string // what is done now, or ""
	Numbers []numberView
	Current string
}

type numberView struct{ Name, Value string }

func liveOf(r agent.RunStatus) liveView {
	p := r.Progress
	share, known := progressOf(r)
	v := liveView{Label: workOf(r), Known: known, Percent: int(share * 100), Current: visible(p.Current)}
	left, pace := "not known yet", speed(p.Speed)
	switch d := timeLeft(r); {
	case p.Paused:
		left, pace = "paused", "–" // the engine's last speed is no longer true
	case d > 0:
		left = about(d)
	case known && share >= 1:
		left = "nearly done"
	}
	v.Numbers = []numberView{
		{"Speed", pace},
		{"Done", doneOf(r)},
		{"Files", filesOf(r)},
		{"Time left", left},
	}
	v.Step = stepOf(r)
	return v
}

func doneOf(r agent.RunStatus) string {
	p := r.Progress
	done, total := p.CopyDone, p.CopyTotal
	if total == 0 {
		done, total = p.BytesDone, p.BytesTotal
	}
	if !p.TotalsKnown {
		return size(done) + " so far"
	}
	return sizeOf(done, total)
}

func filesOf(r agent.RunStatus) string {
	p := r.Progress
	if !p.TotalsKnown {
		return count(p.FilesDone) + " so far"
	}
	return count(p.FilesDone) + " of " + count(p.FilesTotal)
}

// stepOf names the engine's phase where it is not plain from the numbers.
func stepOf(r agent.RunStatus) string {
	switch r.Progress.Phase {
	case "scanning":
		return "Looking for what has changed"
	case "verifying":
		return "Reading back what was written"
	case "removing":
		return "Removing what is gone from the source"
	case "sealing":
		return "Writing the list of checksums"
	}
	return ""
}

// workOf says what a run does: "Copying hour 14", "Checking 3 hours".
func workOf(r agent.RunStatus) string {
	verb := "Copying"
	if r.Verify {
		verb = "Checking"
	}
	return verb + " " + hoursOf(r.Hours)
}

func hoursOf(hours []int) string {
	if len(hours) == 1 {
		return "hour " + hh(hours[0])
	}
	return fmt.Sprintf("%d hours", len(hours))
}
