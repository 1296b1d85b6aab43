package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRunsComeNewestFirst(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	a, b := addJob(t, s, "a"), addJob(t, s, "b")
	var all, ofA []string // oldest first
	for i := range 2*runChunk + 50 {
		j := []Job{a, b}[i%2]
		r := record(t, s, Run{Job: j.ID, Started: noon.Add(time.Duration(i) * time.Second), Outcome: Done}, nil, nil)
		all = append(all, r.ID)
		if j.ID == a.ID {
			ofA = append(ofA, r.ID)
		}
	}
	slices.Reverse(all)
	slices.Reverse(ofA)
	if got := runIDs(t, s, ""); !slices.Equal(got, all) {
		t.Errorf("all: got %v, want %v", got, all)
	}
	if got := runIDs(t, s, a.ID); !slices.Equal(got, ofA) {
		t.Errorf("of a: got %v, want %v", got, ofA)
	}
	if got := runIDs(t, s, "unknown"); len(got) > 0 {
		t.Errorf("of an unknown job: got %v", got)
	}
}

// A page that lists the history must not hold up a run, nor be confused by one.
func TestHistoryMayBeWrittenWhileItIsRead(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	for i := range 2 * runChunk {
		record(t, s, Run{Job: j.ID, Started: noon.Add(time.Duration(i) * time.Second), Outcome: Done}, nil, nil)
	}
	seen := 0
	for r, err := range s.Runs(j.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 1 {
			record(t, s, Run{Job: j.ID, Started: r.Started.Add(time.Hour), Outcome: Done}, nil, nil)
		}
	}
	if seen != 2*runChunk {
		t.Errorf("got %d runs, want %d", seen, 2*runChunk)
	}
	for range s.Runs("") {
		break // early stop
	}
}

func TestRunIDsSortByTime(t *testing.T) {
	var ids []string
	for _, at := range []time.Time{{}, noon.AddDate(-3000, 0, 0), noon, noon.Add(time.Millisecond), noon.AddDate(20000, 0, 0)} {
		id := runID(at.In(time.FixedZone("", 5*3600)))
		if !validID(id) {
			t.Errorf("%q is no id", id)
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("got %v", ids)
	}
}

func TestMissedRunNeedsNoBegin(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	due := noon.Add(-3 * time.Hour)
	if err := s.Finish(Run{Job: j.ID, Hour: 9, Due: due, Trigger: "schedule", Outcome: Missed, Reason: "The computer slept."}, nil, nil); err != nil {
		t.Fatal(err)
	}
	ids := runIDs(t, s, j.ID)
	if len(ids) != 1 {
		t.Fatalf("got %v", ids)
	}
	r, err := s.Run(ids[0])
	if err != nil || r.Outcome != Missed || !r.Started.Equal(due) || !strings.HasPrefix(r.ID, "20261130-090000") {
		t.Errorf("got %+v, %v", r, err)
	}
	board, _ := s.Board(j.ID)
	if h := board[9]; h.Outcome != Missed || !h.At.Equal(due) || h.Content != "" {
		t.Errorf("board: got %+v", h)
	}
}

func TestFailedRunLeavesTheContentOfItsHour(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	sealed := record(t, s, Run{Job: j.ID, Hour: 12, Outcome: Done}, nil, &Hour{Content: "sealed", Files: Count{Files: 5}})
	failed := record(t, s, Run{Job: j.ID, Hour: 12, Started: noon.Add(time.Hour), Outcome: Failed}, nil, nil)
	board, err := s.Board(j.ID)
	want := Hour{Content: "sealed", Files: Count{Files: 5}, LastRun: failed.ID, Outcome: Failed, At: failed.Ended}
	if h := board[12]; err != nil || h.Content != want.Content || h.Files != want.Files || h.LastRun != want.LastRun || h.Outcome != want.Outcome || !h.At.Equal(want.At) {
		t.Errorf("got %+v, %v, want %+v (after %s)", h, err, want, sealed.ID)
	}
	// A due of yesterday, told late, is not the latest of this hour.
	if err := s.Finish(Run{Job: j.ID, Hour: 12, Due: noon.AddDate(0, 0, -1), Outcome: Missed}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if board, _ = s.Board(j.ID); board[12].LastRun != failed.ID {
		t.Errorf("got %+v, want the failed run still", board[12])
	}
}

func TestOneShotRunTouchesNoHour(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	record(t, s, Run{Job: j.ID, Hour: -1, Outcome: Done}, nil, &Hour{Content: "sealed"})
	if board, err := s.Board(j.ID); err != nil || len(dump(t, s)["boards"]) > 0 {
		t.Errorf("got %+v, %v", board, err)
	}
}

func TestProblemsAreCappedAndCounted(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	problems := make([]Problem, MaxProblems+500)
	for i := range problems {
		problems[i].Path = fmt.Sprint(i)
	}
	r := record(t, s, Run{Job: j.ID, Outcome: Partial, ProblemCount: 1_000_000}, problems, nil)
	if got, _ := s.Run(r.ID); got.ProblemCount != 1_000_000 {
		t.Errorf("count: got %d", got.ProblemCount)
	}
	if got, err := s.Problems(r.ID); err != nil || len(got) != MaxProblems || got[MaxProblems-1].Path != fmt.Sprint(MaxProblems-1) {
		t.Errorf("got %d problems, %v", len(got), err)
	}
	if got, err := s.Problems("none"); err != nil || got != nil {
		t.Errorf("of an unknown run: got %v, %v", got, err)
	}
}

func TestAbsurdTimesAreKeptAsNearAsJSONCan(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	for _, at := range []time.Time{
		noon.AddDate(100_000, 0, 0), noon.AddDate(-100_000, 0, 0),
		time.Date(1890, 1, 1, 0, 0, 0, 0, time.FixedZone("LMT", 53*60+28)),
		time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -5*3600)),
		time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", 30*3600)),
	} {
		r := record(t, s, Run{Job: j.ID, Hour: 3, Started: at, Due: at, Outcome: Done}, nil,
			&Hour{From: at, To: at, Due: at, Oldest: at, At: at})
		got, err := s.Run(r.ID)
		if err != nil {
			t.Errorf("%v: %v", at, err)
		}
		if y := at.UTC().Year(); y > 0 && y <= 9999 && !got.Started.Equal(at) {
			t.Errorf("got %v, want %v", got.Started, at)
		}
		if _, err := s.Board(j.ID); err != nil {
			t.Errorf("%v: board: %v", at, err)
		}
		if has, err := s.HasDue(j.ID, at); err != nil || !has {
			t.Errorf("%v: HasDue: %v, %v", at, has, err)
		}
	}
}

func TestTimesKeepTheirZone(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	at := time.Date(2026, 10, 25, 2, 30, 0, 123456789, time.FixedZone("", 2*3600))
	r := record(t, s, Run{Job: j.ID, Started: at, Outcome: Done}, nil, nil)
	got, err := s.Run(r.ID)
	if err != nil || got.Started.Format(time.RFC3339Nano) != "2026-10-25T02:30:00.123456789+02:00" {
		t.Errorf("got %v, %v", got.Started, err)
	}
}

func TestWhatCannotBeRecordedIsRefused(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	r, err := s.Begin(Run{Job: j.ID})
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"begun twice": second(s.Begin(r)),
		"an odd id":   second(s.Begin(Run{ID: "a/b", Job: j.ID})),
		"no outcome":  s.Finish(r, nil, nil),
		"hour 24":     s.SetHour(j.ID, 24, Hour{}),
		"an odd hour": s.Index(j.ID, -1, "r", files(1, "")),
		"no setting":  s.SetSetting("", 1),
		"no JSON":     s.SetSetting("x", func() {}),
		"torn plan":   s.Finish(Run{Job: j.ID, Outcome: Held, Plan: []byte("{")}, nil, nil),
	} {
		if err == nil {
			t.Errorf("%s: got no error", what)
		}
	}
	for what, err := range map[string]error{
		"Begin":   second(s.Begin(Run{Job: "none"})),
		"Finish":  s.Finish(Run{Job: "none", Outcome: Done}, nil, nil),
		"SetHour": s.SetHour("none", 1, Hour{}),
		"Index":   s.Index("none", 1, "r", files(1, "")),
		"Run":     second(s.Run("none")),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	type pause struct{ Until time.Time }
	if err := s.SetSetting("pause", pause{noon}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = openAt(t, dir, noon)
	var got pause
	if found, err := s.Setting("pause", &got); !found || err != nil || !got.Until.Equal(noon) {
		t.Errorf("got %v, %v, %v", got, found, err)
	}
	if err := s.SetSetting("pause", nil); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Setting("pause", &got); found || err != nil {
		t.Errorf("removed: got %v, %v", found, err)
	}
}
