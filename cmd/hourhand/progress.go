package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
)

// display shows the progress of a run. show is called from one goroutine at a
// time; end clears what does not belong into the record.
type display struct {
	show func(engine.Progress)
	end  func()
}

var noDisplay = display{show: func(engine.Progress) {}, end: func() {}}

// progressEvery is how often a script gets to read how far a run is.
const progressEvery = time.Second

type progressLine struct {
	Type       string  `json:"type"` // "progress"
	Phase      string  `json:"phase"`
	Paused     bool    `json:"paused,omitempty"`
	FilesDone  int64   `json:"files_done"`
	FilesTotal int64   `json:"files_total"`
	BytesDone  int64   `json:"bytes_done"`
	BytesTotal int64   `json:"bytes_total"`
	CopyDone   int64   `json:"copy_done"`
	CopyTotal  int64   `json:"copy_total"`
	Exact      bool    `json:"totals_known"`
	Current    string  `json:"current,omitempty"`
	Speed      float64 `json:"speed"` // bytes a second
	Problems   int64   `json:"problems"`

	Pace engine.Pace `json:"pace,omitzero"`
}

// newJSONProgress prints one object a line, at most one a second.
func newJSONProgress(w io.Writer, now func() time.Time) display {
	var last time.Time
	return display{end: func() {}, show: func(p engine.Progress) {
		if t := now(); t.Sub(last) >= progressEvery {
			last = t
			// A reader that has gone away ends the run by a signal, not here.
			_ = printJSON(w, progressLine{
				Type: "progress", Phase: p.Phase, Paused: p.Paused,
				FilesDone: p.FilesDone, FilesTotal: p.FilesTotal, BytesDone: p.BytesDone, BytesTotal: p.BytesTotal,
				CopyDone: p.CopyDone, CopyTotal: p.CopyTotal, Exact: p.TotalsKnown,
				Current: p.Current, Speed: p.Speed, Problems: p.Problems,
				Pace: p.Pace,
			})
		}
	}}
}

// newNames prints the file in work whenever it is another one.
func newNames(w io.Writer) display {
	var last string
	return display{end: func() {}, show: func(p engine.Progress) {
		if p.Current != "" && p.Current != last {
			last = p.Current
			fmt.Fprintln(w, clean(p.Current))
		}
	}}
}

// newBar draws a bar of the bytes to be copied, with files, speed and the time
// left, on a terminal. To the library a full bar is the end: ours has one byte
// more than there is, so that it stays while the last files are verified, and
// while the totals still grow.
func newBar(w io.Writer) display {
	bar := progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionUseIECUnits(false),
		progressbar.OptionFullWidth(),
	)
	show := func(p engine.Progress) {
		bar.ChangeMax64(max(p.CopyTotal, p.CopyDone) + 1)
		bar.Describe(barText(p))
		_ = bar.Set64(p.CopyDone) // it can only complain about its own terminal
	}
	return display{show: show, end: func() { _ = bar.Clear(); _ = bar.Exit() }}
}

func barText(p engine.Progress) string {
	files := plural(p.FilesDone, "file")
	if p.TotalsKnown {
		files = fmt.Sprintf("%s of %s", count(p.FilesDone), plural(p.FilesTotal, "file"))
	}
	text := cmp.Or(p.Phase, "starting") + " " + files
	switch {
	case p.Paused:
		return "paused while " + text
	case agent.GivesWay(p.Pace.Share):
		return text + ", giving way"
	}
	return text
}

// isTerminal tells whether w is a terminal that a person looks at.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
