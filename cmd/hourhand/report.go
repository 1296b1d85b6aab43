package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// shownProblems is how many problems a person gets to read at the end of a run:
// a screenful.
const shownProblems = 20

// report is the end of one run for one target, as --json prints it and as a
// person reads it.
type report struct {
	Type         string          `json:"type"` // "report"
	ID           string          `json:"id,omitempty"`
	Job          string          `json:"job,omitempty"`
	Hour         *int            `json:"hour,omitempty"`
	Trigger      string          `json:"trigger,omitempty"`
	Target       string          `json:"target,omitempty"`
	Outcome      string          `json:"outcome"`
	Reason       string          `json:"reason,omitempty"` // why it is not done
	Copied       engine.Count    `json:"copied"`
	Updated      engine.Count    `json:"updated"`
	Removed      engine.Count    `json:"removed"`
	Moved        engine.Count    `json:"moved"`
	Unchanged    engine.Count    `json:"unchanged"`
	LeftOut      engine.LeftOut  `json:"left_out"`
	Verified     engine.Verified `json:"verified"`
	Problems     []problem       `json:"problems"`
	ProblemCount int64           `json:"problem_count"`
	Notes        []string        `json:"notes,omitempty"`
	Plan         *plan           `json:"plan,omitempty"` // what a held run waits to do
	Seconds      float64         `json:"seconds"`

	code  code
	begun bool // there is something to count
}

// problem is engine.Problem for JSON, which cannot carry every file name.
type problem struct {
	Path       string `json:"path"`
	PathBase64 string `json:"path_base64,omitempty"` // the name's bytes, where they are no UTF-8
	Error      string `json:"error"`
	Cause      string `json:"cause,omitempty"`
}

func problemOf(path, text, cause string) problem {
	p := problem{Path: path, Error: text, Cause: cause}
	if !utf8.ValidString(path) {
		p.PathBase64 = base64.StdEncoding.EncodeToString([]byte(path))
	}
	return p
}

// plan is the list of a held run: its id, counts, and a screenful of its items.
type plan engine.Plan

func planOf(p engine.Plan) *plan {
	p.Sample = p.Sample[:min(len(p.Sample), shownProblems)]
	return (*plan)(&p)
}

// reportOf translates the engine's report.
func reportOf(r engine.Report) report {
	out := report{
		Type: "report", Target: r.Target, Outcome: string(r.Outcome),
		Copied: r.Copied, Updated: r.Updated, Removed: r.Removed, Moved: r.Moved,
		Unchanged: r.Unchanged, LeftOut: r.LeftOut, Verified: r.Verified,
		Problems: []problem{}, ProblemCount: r.ProblemCount, Notes: r.Notes,
		Seconds: seconds(r.Started, r.Ended),
	}
	for _, p := range r.Problems {
		out.Problems = append(out.Problems, problemOf(p.Path, p.Error, p.Cause))
	}
	if r.Plan != nil && r.Outcome == engine.Held {
		out.Plan = planOf(*r.Plan)
	}
	out.code, out.begun = out.codeByOutcome(), r.Err == nil || r.Changed
	if r.Err != nil {
		out.code, out.Reason = codeOf(r.Err), r.Err.Error()
	}
	return out
}

// reportOfRun translates what the history holds of a job's run.
func reportOfRun(r store.Run, problems []store.Problem) report {
	out := report{
		Type: "report", ID: r.ID, Job: r.JobName, Hour: &r.Hour, Trigger: r.Trigger, Outcome: r.Outcome, Reason: r.Reason,
		Copied: engine.Count(r.Copied), Updated: engine.Count(r.Updated), Removed: engine.Count(r.Removed),
		Moved: engine.Count(r.Moved), Unchanged: engine.Count(r.Unchanged), LeftOut: engine.LeftOut(r.LeftOut),
		Verified: engine.Verified{
			Device: engine.Count(r.Verified.Device), Cache: engine.Count(r.Verified.Cache),
			Server: engine.Count(r.Verified.Server), Source: engine.Count(r.Verified.Source),
		},
		Problems: []problem{}, ProblemCount: r.ProblemCount, Notes: r.Notes,
		Seconds: seconds(r.Started, r.Ended),
	}
	for _, p := range problems {
		out.Problems = append(out.Problems, problemOf(p.Path, p.Error, p.Cause))
	}
	var p engine.Plan
	if r.Outcome == store.Held && json.Unmarshal(r.Plan, &p) == nil { // no list: another drive than before
		out.Plan = planOf(p)
	}
	out.code, out.begun = out.codeByOutcome(), r.Changed || r.Sealed || r.Unchanged.Files > 0 || r.Outcome == store.Done
	if c, ok := causes[r.Cause]; ok {
		out.code = c
	}
	return out
}

// codeByOutcome is the exit code of a report where no error or cause says more.
func (r report) codeByOutcome() code {
	mismatch := func(p problem) bool { return p.Cause == engine.CauseMismatch }
	if slices.ContainsFunc(r.Problems, mismatch) {
		return codeMismatch
	}
	if c, ok := outcomes[r.Outcome]; ok {
		return c
	}
	return codeFailed
}

func seconds(from, to time.Time) float64 {
	if from.IsZero() || to.Before(from) {
		return 0
	}
	return to.Sub(from).Round(time.Millisecond).Seconds()
}

// printJSON writes one JSON value on one line.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// print writes the report for a person. quiet leaves out what is in order.
func (r report) print(w io.Writer, quiet bool) {
	if quiet && r.Outcome == store.Done {
		return
	}
	fmt.Fprintf(w, "%s: %s\n", r.Outcome, clean(r.title()))
	if r.Reason != "" {
		fmt.Fprintf(w, "  %s\n", cleanLines(r.Reason))
	}
	if r.Outcome == store.Held && r.Job != "" {
		fmt.Fprintf(w, "  look at it, and let it pass, with: hourhand approve %s\n", shellQuote(r.Job))
	}
	if !quiet && r.begun {
		r.printCounts(w)
	}
	for i, p := range r.Problems {
		if i == shownProblems {
			break
		}
		fmt.Fprintf(w, "  problem: %s: %s\n", clean(p.Path), clean(p.Error))
	}
	if more := r.ProblemCount - int64(min(len(r.Problems), shownProblems)); more > 0 {
		fmt.Fprintf(w, "  and %s more; --json or --log FILE lists %s\n", plural(more, "problem"), r.listed())
	}
}

// listed says how much of the problems the full list has.
func (r report) listed() string {
	if r.ProblemCount > int64(len(r.Problems)) {
		return "the first " + count(int64(len(r.Problems)))
	}
	return "all"
}

func (r report) title() string {
	switch {
	case r.Job == "":
		return r.Target
	case r.Hour == nil || *r.Hour < 0:
		return r.Job
	default:
		return fmt.Sprintf("%s, hour %02d", r.Job, *r.Hour)
	}
}

func (r report) printCounts(w io.Writer) {
	if r.Trigger == "verify" { // an hour was read back, nothing copied
		fmt.Fprintf(w, "  equal %s\n", amount(r.Unchanged))
	} else {
		fmt.Fprintf(w, "  copied %s, updated %s, removed %s, unchanged %s\n",
			amount(r.Copied), amount(r.Updated), amount(r.Removed), amount(r.Unchanged))
	}
	if out := leftOut(r.LeftOut); out != "" {
		fmt.Fprintf(w, "  left out: %s\n", out)
	}
	if how := proof(r.Verified); how != "" {
		fmt.Fprintf(w, "  verified: %s\n", how)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "  note: %s\n", clean(n))
	}
	fmt.Fprintf(w, "  %s", span(time.Duration(r.Seconds*float64(time.Second))))
	if bytes := r.Copied.Bytes + r.Updated.Bytes; bytes > 0 && r.Seconds > 0 {
		fmt.Fprintf(w, ", %s/s", size(int64(float64(bytes)/r.Seconds)))
	}
	fmt.Fprintln(w)
}

func amount(c engine.Count) string {
	if c.Files == 0 {
		return "0"
	}
	return fmt.Sprintf("%s (%s)", count(c.Files), size(c.Bytes))
}

func leftOut(l engine.LeftOut) string {
	return join([]part{
		{l.Excluded, "excluded"}, {l.Special, "special files"}, {l.Mount, "mount points"},
	})
}

// proof tells how the files of a run were verified, in the words of the README.
func proof(v engine.Verified) string {
	return join([]part{
		{v.Device.Files, "read back from the device"},
		{v.Cache.Files, "read back, but not past the cache"},
		{v.Server.Files, "read back from the server"},
		{v.Source.Files, "only hashed while being read"},
	})
}

type part struct {
	n    int64
	text string
}

func join(parts []part) string {
	var s []string
	for _, p := range parts {
		if p.n > 0 {
			s = append(s, count(p.n)+" "+p.text)
		}
	}
	return strings.Join(s, ", ")
}

// checkLine tells how to prove a copy where Hourhand was never installed: what
// manifest it has below its folder.
func checkLine(dir, manifest string) string {
	return fmt.Sprintf("cd %s && xxhsum -c %s", shellQuote(dir), filepath.ToSlash(manifest))
}
