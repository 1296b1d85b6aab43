package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

func TestTranslateLosesNothing(t *testing.T) {
	at := time.Date(2026, 6, 1, 11, 0, 0, 0, time.UTC)
	count := func(n int64) engine.Count { return engine.Count{Files: n, Bytes: 10 * n} }
	stored := func(n int64) store.Count { return store.Count{Files: n, Bytes: 10 * n} }
	rep := engine.Report{
		Dest: engine.Dest{Target: "/t", Hour: 11}, RunID: "r", Outcome: engine.Partial,
		Copied: count(1), Updated: count(2), Removed: count(3), Moved: count(4), Unchanged: count(5),
		LeftOut:  engine.LeftOut{Excluded: 6, Special: 7, Mount: 8},
		Verified: engine.Verified{Device: count(9), Cache: count(10), Server: count(11), Source: count(12)},
		Problems: []engine.Problem{{Path: "a", Error: "no right", Cause: "permission"}}, ProblemCount: 2,
		Notes: []string{"durability not provable"}, Plan: &engine.Plan{ID: "p"},
		Started: at, Ended: at.Add(time.Minute), Sealed: true, Changed: true,
	}
	st := engine.State{
		Content: engine.Sealed, Hour: 11, From: at, To: at.Add(time.Second), Due: at, RunID: "r", Files: count(8), Problems: 2,
		Verified: engine.Verified{Cache: count(8)}, Oldest: at, Notes: []string{"n"},
	}
	run, problems, hour := translate(store.Run{ID: "r", Job: "j", Hour: 11, Due: at, Started: at, Trigger: "schedule"}, rep, &st)
	want := store.Run{
		ID: "r", Job: "j", Hour: 11, Due: at, Started: at, Ended: at.Add(time.Minute), Trigger: "schedule", Outcome: store.Partial,
		Reason: "2 files could not be copied", Cause: CauseFiles,
		Copied: stored(1), Updated: stored(2), Removed: stored(3), Moved: stored(4), Unchanged: stored(5),
		LeftOut:      store.LeftOut{Excluded: 6, Special: 7, Mount: 8},
		Verified:     store.Verified{Device: stored(9), Cache: stored(10), Server: stored(11), Source: stored(12)},
		ProblemCount: 2, Notes: []string{"durability not provable"}, Sealed: true, Changed: true,
	}
	want.Plan, _ = json.Marshal(rep.Plan)
	if !reflect.DeepEqual(run, want) {
		t.Errorf("run:\n got %+v\nwant %+v", run, want)
	}
	if len(problems) != 1 || problems[0] != (store.Problem{Path: "a", Error: "no right", Cause: "permission"}) {
		t.Errorf("problems %+v", problems)
	}
	wantHour := &store.Hour{
		Content: "sealed", From: at, To: at.Add(time.Second), Due: at, SealedBy: "r", Files: stored(8), Problems: 2,
		Verified: store.Verified{Cache: stored(8)}, Oldest: at, Notes: []string{"n"},
	}
	if !reflect.DeepEqual(hour, wantHour) {
		t.Errorf("hour:\n got %+v\nwant %+v", hour, wantHour)
	}
}

func TestTranslateNamesTheCause(t *testing.T) {
	for _, c := range []struct {
		rep           engine.Report
		cause, reason string
	}{
		{engine.Report{Outcome: engine.Done}, "", ""},
		{engine.Report{Outcome: engine.Partial, ProblemCount: 1}, CauseFiles, "1 file could not be copied"},
		{engine.Report{Outcome: engine.Failed, Err: fmt.Errorf("%w: /x", engine.ErrNoSpace)}, CauseFull, "target is full: /x"},
		{engine.Report{Outcome: engine.Failed, Err: errors.New("what")}, CauseOther, "what"},
		{engine.Report{Outcome: engine.Held, Err: engine.ErrHeld, Plan: &engine.Plan{Reason: "70 of 100 files"}}, CauseHeld, "70 of 100 files"},
		{engine.Report{Outcome: engine.Held, Err: engine.ErrVolume}, CauseVolume, engine.ErrVolume.Error()},
	} {
		if run, _, _ := translate(store.Run{}, c.rep, nil); run.Cause != c.cause || run.Reason != c.reason {
			t.Errorf("%+v: %q %q, want %q %q", c.rep, run.Cause, run.Reason, c.cause, c.reason)
		}
	}
	for _, c := range causes {
		if got := causeOf(fmt.Errorf("it: %w", c.err)); got != c.cause {
			t.Errorf("%v: %q, want %q", c.err, got, c.cause)
		}
	}
}

func TestUnsealedHourHasNoSeal(t *testing.T) {
	st := engine.State{Content: engine.Mixed, RunID: "r"}
	if _, _, h := translate(store.Run{ID: "r"}, engine.Report{Outcome: engine.Failed, Changed: true}, &st); h.SealedBy != "" || h.Content != "mixed" {
		t.Errorf("half-way: %+v", h)
	}
	if _, _, h := translate(store.Run{}, engine.Report{Outcome: engine.Failed, Changed: true}, nil); h == nil || h.Content != "writing" {
		t.Errorf("target gone half-way: %+v", h)
	}
	if _, _, h := translate(store.Run{}, engine.Report{Outcome: engine.Failed}, nil); h != nil {
		t.Errorf("nothing touched: %+v", h)
	}
}

func TestRunIDsSortByTime(t *testing.T) {
	at := time.Date(2026, 6, 1, 11, 0, 0, 999_999_999, time.UTC)
	if a, b := newRunID(at), newRunID(at.Add(time.Millisecond)); a >= b || a[:19] != "20260601-110000-999" {
		t.Errorf("%s, %s", a, b)
	}
}
