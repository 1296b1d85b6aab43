package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

func printed(r report, quiet bool) string {
	var b strings.Builder
	r.print(&b, quiet)
	return b.String()
}

// The shape that scripts rely on, name by name.
func TestReportAsJSON(t *testing.T) {
	began := time.Date(2026, 3, 2, 14, 0, 0, 0, time.UTC)
	r := reportOf(engine.Report{
		Dest:    engine.Dest{Target: "/t", Hour: engine.OneShot},
		Outcome: engine.Partial,
		Copied:  engine.Count{Files: 1, Bytes: 2}, Updated: engine.Count{Files: 3, Bytes: 4},
		Removed: engine.Count{Files: 5, Bytes: 6}, Unchanged: engine.Count{Files: 7, Bytes: 8},
		LeftOut:  engine.LeftOut{Excluded: 1, Special: 2, Mount: 3},
		Verified: engine.Verified{Device: engine.Count{Files: 4, Bytes: 6}},
		Problems: []engine.Problem{{Path: "a\xffb", Error: "cannot be read", Cause: engine.CauseRead}}, ProblemCount: 1,
		Started: began, Ended: began.Add(1500 * time.Millisecond),
	})
	r.Target = ""
	var b strings.Builder
	if err := printJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"report","outcome":"partial",` +
		`"copied":{"files":1,"bytes":2},"updated":{"files":3,"bytes":4},"removed":{"files":5,"bytes":6},` +
		`"moved":{"files":0,"bytes":0},"unchanged":{"files":7,"bytes":8},"left_out":{"excluded":1,"special":2,"mount":3},` +
		`"verified":{"device":{"files":4,"bytes":6},"cache":{"files":0,"bytes":0},"server":{"files":0,"bytes":0},"source":{"files":0,"bytes":0}},` +
		`"problems":[{"path":"a` + "\ufffd" + `b","path_base64":"Yf9i","error":"cannot be read","cause":"read"}],"problem_count":1,"seconds":1.5}` + "\n"
	want = strings.ReplaceAll(want, "\ufffd", `\ufffd`)
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestReportWithoutProblemsHasAnEmptyList(t *testing.T) {
	for name, r := range map[string]report{
		"engine": reportOf(engine.Report{Outcome: engine.Done}), "run": reportOfRun(store.Run{Outcome: store.Done}, nil),
	} {
		data, err := json.Marshal(r)
		if err != nil || !strings.Contains(string(data), `"problems":[]`) {
			t.Errorf("%s: got %s, %v, want an empty list of problems", name, data, err)
		}
	}
}

func TestReportListsTheFirstProblems(t *testing.T) {
	r := engine.Report{Dest: engine.Dest{Target: "/t"}, Outcome: engine.Partial, ProblemCount: 1234}
	for i := range engine.MaxProblems {
		r.Problems = append(r.Problems, engine.Problem{Path: fmt.Sprintf("f\x1b[%d", i), Error: "no"})
	}
	lines := strings.Split(printed(reportOf(r), false), "\n")
	isProblem := func(l string) bool { return strings.HasPrefix(l, "  problem: ") }
	shown := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !isProblem(l) })
	if len(shown) != shownProblems || shown[1] != `  problem: f\x1b[1: no` {
		t.Errorf("got %d problems, the second is %q", len(shown), shown[1])
	}
	want := "  and 1,214 problems more; --json or --log FILE lists the first 1,000"
	if !slices.Contains(lines, want) {
		t.Errorf("got %q, want a line %q", lines, want)
	}
}

func TestQuietTellsOnlyTrouble(t *testing.T) {
	if got := printed(reportOf(engine.Report{Outcome: engine.Done, Copied: engine.Count{Files: 1}}), true); got != "" {
		t.Errorf("all in order: got %q, want nothing", got)
	}
	r := reportOf(engine.Report{Dest: engine.Dest{Target: "/t"}, Outcome: engine.Partial, ProblemCount: 1,
		Problems: []engine.Problem{{Path: "a", Error: "no"}}})
	if got, want := printed(r, true), "partial: /t\n  problem: a: no\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVerificationExitCodes(t *testing.T) {
	for _, c := range []struct {
		audit engine.Audit
		want  code
	}{
		{engine.Audit{}, 0},
		{engine.Audit{Edited: 1}, 3},
		{engine.Audit{Extra: 1}, 3},
		{engine.Audit{Unreadable: 1}, 8},
		{engine.Audit{Interrupted: true}, 3},
		{engine.Audit{Rot: 1}, 8},
		{engine.Audit{Missing: 1, Edited: 1}, 8},
		{engine.Audit{Healed: 2}, 0},
		{engine.Audit{Rot: 1, Healed: 1}, 8},
	} {
		if got := auditCode(c.audit); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.audit, got, c.want)
		}
	}
}

func TestProgressForScriptsAtMostOnceASecond(t *testing.T) {
	var b strings.Builder
	clock := time.Unix(0, 0)
	d := newJSONProgress(&b, func() time.Time { return clock })
	for range 12 { // 3 s, four snapshots each
		d.show(engine.Progress{Phase: "copying", FilesDone: 1})
		clock = clock.Add(250 * time.Millisecond)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], `{"type":"progress","phase":"copying","files_done":1,`) {
		t.Errorf("got %d lines, first %s, want 3 of type progress", len(lines), lines[0])
	}
}

func TestBarShowsAWholeRun(t *testing.T) {
	var b strings.Builder
	d := newBar(&b)
	for _, p := range []engine.Progress{
		{Phase: "scanning", FilesDone: 1},
		{Phase: "copying", FilesDone: 2, FilesTotal: 10, CopyDone: 1_000, CopyTotal: 5_000},
		{Phase: "copying", FilesDone: 5, FilesTotal: 10, CopyDone: 5_000, CopyTotal: 5_000}, // as far as is known yet
		{Phase: "copying", FilesDone: 9, FilesTotal: 10, CopyDone: 9_000, CopyTotal: 10_000, TotalsKnown: true},
		{Phase: "sealing", FilesDone: 10, FilesTotal: 10, CopyDone: 10_000, CopyTotal: 10_000, TotalsKnown: true},
	} {
		d.show(p)
	}
	d.end()
	for _, want := range []string{"scanning 1 file", "copying 9 of 10 files", "sealing 10 of 10 files"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the bar never showed %q", want)
		}
	}
}
