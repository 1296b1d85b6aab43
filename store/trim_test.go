package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// fill records n runs of a job, one an hour from begin on, in one transaction.
func fill(t testing.TB, s *Store, j Job, begin time.Time, n int) {
	t.Helper()
	if err := s.db.update(func(tx *bbolt.Tx) error {
		for i := range n {
			at := begin.Add(time.Duration(i) * time.Hour)
			r := Run{Job: j.ID, Hour: at.Hour(), Due: at, Started: at, Ended: at.Add(time.Minute), Trigger: "schedule", Outcome: Done}
			if err := admit(tx, &r); err != nil {
				return err
			}
			if err := endRun(tx, r, &Hour{Content: "sealed", SealedBy: r.ID}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestOldRunsGo(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	a, b := addJob(t, s, "a"), addJob(t, s, "b")
	for _, j := range []Job{a, b} {
		for _, days := range []int{-900, -401, -399, 0} {
			for hour := range 3 {
				at := noon.AddDate(0, 0, days).Add(time.Duration(hour) * time.Hour)
				record(t, s, Run{Job: j.ID, Hour: at.Hour(), Due: at, Started: at, Outcome: Partial}, []Problem{{Path: "x"}}, nil)
			}
		}
	}
	// The newest run of hour 5 is old, and stays.
	old := record(t, s, Run{Job: a.ID, Hour: 5, Started: noon.AddDate(-3, 0, 0), Outcome: Done}, nil, nil)
	if err := s.Trim(); err != nil {
		t.Fatal(err)
	}
	ids := runIDs(t, s, a.ID)
	if len(ids) != 7 || !slices.Contains(ids, old.ID) {
		t.Errorf("got %v, want 6 new runs and %s", ids, old.ID)
	}
	if got := len(runIDs(t, s, b.ID)); got != 6 {
		t.Errorf("b: got %d runs, want 6", got)
	}
	stored := dump(t, s)
	for bucket, want := range map[string]int{"runs": 13, "job-runs": 13, "problems": 12, "dues": 12} {
		if got := len(stored[bucket]); got != want {
			t.Errorf("%s: got %d, want %d", bucket, got, want)
		}
	}
}

// The clock may jump, a job may rest for years: age counts from the newest run.
func TestRestedJobKeepsItsHistory(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	fill(t, s, addJob(t, s, "a"), noon.AddDate(0, 0, -390), 100)
	closeStore(t, s)
	s = openAt(t, dir, noon.AddDate(50, 0, 0))
	if err := s.Trim(); err != nil {
		t.Fatal(err)
	}
	if got := len(runIDs(t, s, "")); got != 100 {
		t.Errorf("got %d runs, want all 100", got)
	}
}

func TestNewestDueIsNeverForgotten(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	due := noon.AddDate(-2, 0, 0)
	record(t, s, Run{Job: j.ID, Hour: 12, Due: due, Started: due, Outcome: Done}, nil, nil)
	for i := range 3 {
		record(t, s, Run{Job: j.ID, Hour: 12, Started: noon.Add(time.Duration(i) * time.Hour), Outcome: Done}, nil, nil)
	}
	if err := s.Trim(); err != nil {
		t.Fatal(err)
	}
	if got := len(runIDs(t, s, j.ID)); got != 3 {
		t.Errorf("got %d runs, want 3", got)
	}
	if got, err := s.LastDue(j.ID); err != nil || !got.Equal(due) {
		t.Errorf("LastDue: got %v, %v, want %v", got, err, due)
	}
}

func TestLongListsOfProblemsGoBeforeTheirRuns(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	problems := make([]Problem, MaxProblems)
	for i := range problems {
		problems[i] = Problem{Path: strings.Repeat("long/", 1000) + fmt.Sprint(i), Error: "cannot be read"}
	}
	var runs []Run
	for i := range 9 { // of 5 MB
		runs = append(runs, record(t, s, Run{Job: j.ID, Started: noon.Add(time.Duration(i) * time.Hour), Outcome: Partial}, problems, nil))
	}
	if err := s.Trim(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 0, 0, MaxProblems, MaxProblems, MaxProblems, MaxProblems, MaxProblems, MaxProblems} {
		got, err := s.Problems(runs[i].ID)
		if err != nil || len(got) != want {
			t.Errorf("run %d: got %d problems, %v, want %d", i, len(got), err, want)
		}
		if r, err := s.Run(runs[i].ID); err != nil || r.ProblemCount != MaxProblems {
			t.Errorf("run %d: got count %d, %v", i, r.ProblemCount, err)
		}
	}
}

// A history must not grow the database without end (H106: 100,000 runs, under
// 64 MB). With trimming on the way, 15,000 runs end where 100,000 do.
func TestHistoryIsBounded(t *testing.T) {
	const total = 15_000
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	j := addJob(t, s, "a")
	const step = 5_000
	for i := 0; i < total; i += step {
		fill(t, s, j, noon.Add(time.Duration(i)*time.Hour), step)
		if err := s.Trim(); err != nil {
			t.Fatal(err)
		}
	}
	want := 400*24 + 1
	if got := len(runIDs(t, s, j.ID)); got != want {
		t.Errorf("got %d runs, want those of 400 days: %d", got, want)
	}
	closeStore(t, s)
	if size := fileSize(t, dir); size > 64<<20 {
		t.Errorf("got %d MB", size>>20)
	}
}

func TestMoreRunsThanTheCapGo(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	if err := s.db.update(func(tx *bbolt.Tx) error {
		for i := range keepRuns + 500 {
			r := Run{Job: j.ID, Hour: 12, Started: noon.Add(time.Duration(i) * time.Second)}
			if err := admit(tx, &r); err != nil {
				return err
			}
			if err := putRun(tx, r); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Trim(); err != nil {
		t.Fatal(err)
	}
	if got := len(runIDs(t, s, j.ID)); got != keepRuns {
		t.Errorf("got %d runs, want %d", got, keepRuns)
	}
}

func TestFreeSpaceIsGivenBackAtOpen(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	j := addJob(t, s, "a")
	r := record(t, s, Run{Job: j.ID, Hour: 3, Outcome: Done}, nil, &Hour{Content: "sealed"})
	if err := s.Index(j.ID, 3, "run", files(90_000, strings.Repeat("x", 120))); err != nil {
		t.Fatal(err)
	}
	if err := s.Index(j.ID, 3, "run", files(10, "")); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	before := fileSize(t, dir)
	s = openAt(t, dir, noon)
	if after := fileSize(t, dir); before < 16<<20 || after > 1<<20 {
		t.Errorf("got %d kB before and %d kB after", before>>10, after>>10)
	}
	if got, err := s.Run(r.ID); err != nil || got.Outcome != Done {
		t.Errorf("got %+v, %v", got, err)
	}
	mustEqualPaths(t, s, j.ID, 10)
	if odd, _ := filepath.Glob(filepath.Join(dir, "*.compact")); len(odd) > 0 {
		t.Errorf("left behind: %v", odd)
	}
}

func mustEqualPaths(t *testing.T, s *Store, job string, want int) {
	t.Helper()
	got := 0
	for range s.Search(job, "") {
		got++
	}
	if got != want {
		t.Errorf("got %d paths, want %d", got, want)
	}
}

func fileSize(t testing.TB, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, dbName))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
