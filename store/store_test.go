package store

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// noon is when the tests run.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func openAt(t testing.TB, dir string, now time.Time) *Store {
	t.Helper()
	return openWith(t, Config{Dir: dir, Now: func() time.Time { return now }})
}

// openWith opens a store; when the test ends it is closed, and its file must be
// sound.
func openWith(t testing.TB, c Config) *Store {
	t.Helper()
	if c.Now == nil {
		c.Now = func() time.Time { return noon }
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !s.lock.Locked() {
			return // closed by the test
		}
		if err := s.db.view(func(tx *bbolt.Tx) error {
			for err := range tx.Check() {
				t.Errorf("bbolt's check: %v", err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		closeStore(t, s)
		if err := checkFile(filepath.Join(c.Dir, dbName), time.Minute); err != nil {
			t.Error(err)
		}
	})
	return s
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func addJob(t testing.TB, s *Store, name string) Job {
	t.Helper()
	j, err := s.PutJob(Job{Name: name, Source: "/home/ann/" + name, Target: "/media/disk/" + name,
		Mode: "mirror", Schedule: "0 * * * *", Verify: "full", Profile: "normal", Retries: 2})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// record begins and ends a run.
func record(t testing.TB, s *Store, r Run, problems []Problem, hour *Hour) Run {
	t.Helper()
	outcome := r.Outcome
	r, err := s.Begin(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Outcome = outcome
	r.Ended = r.Started.Add(time.Minute)
	if err := s.Finish(r, problems, hour); err != nil {
		t.Fatal(err)
	}
	return r
}

func runIDs(t testing.TB, s *Store, job string) []string {
	t.Helper()
	var ids []string
	for r, err := range s.Runs(job) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	return ids
}

func TestRunIsFoundEverywhereAfterFinish(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	j := addJob(t, s, "photos")
	due := time.Date(2026, 11, 30, 14, 0, 0, 0, time.FixedZone("", 3600))
	r := record(t, s, Run{Job: j.ID, Hour: 14, Due: due, Trigger: "schedule", Outcome: Partial},
		[]Problem{{Path: "a", Error: "cannot be read"}}, &Hour{Content: "sealed", SealedBy: "x", Files: Count{3, 4}})
	closeStore(t, s)

	s = openAt(t, dir, noon)
	got, err := s.Run(r.ID)
	if err != nil || got.Outcome != Partial || got.ProblemCount != 1 || got.JobName != "photos" || !got.Due.Equal(due) {
		t.Errorf("Run: got %+v, %v", got, err)
	}
	if ids := runIDs(t, s, j.ID); !slices.Equal(ids, []string{r.ID}) {
		t.Errorf("Runs: got %v, want %v", ids, r.ID)
	}
	board, err := s.Board(j.ID)
	if h := board[14]; err != nil || h.Content != "sealed" || h.LastRun != r.ID || h.Outcome != Partial || h.At.IsZero() {
		t.Errorf("Board: got %+v, %v", h, err)
	}
	problems, err := s.Problems(r.ID)
	if err != nil || len(problems) != 1 || problems[0].Path != "a" {
		t.Errorf("Problems: got %v, %v", problems, err)
	}
	if last, err := s.LastDue(j.ID); err != nil || !last.Equal(due) {
		t.Errorf("LastDue: got %v, %v", last, err)
	}
	if has, err := s.HasDue(j.ID, due.UTC()); err != nil || !has {
		t.Errorf("HasDue: got %v, %v", has, err)
	}
	if has, err := s.HasDue(j.ID, due.Add(time.Hour)); err != nil || has {
		t.Errorf("HasDue of another due: got %v, %v", has, err)
	}
}
