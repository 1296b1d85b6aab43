package store

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

func TestFirstStartTellsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	s := openAt(t, dir, noon)
	if got := s.Rebuilt(); got != "" {
		t.Errorf("Rebuilt: got %q, want nothing", got)
	}
	if jobs, err := s.Jobs(); err != nil || len(jobs) != 0 {
		t.Errorf("Jobs: got %v, %v", jobs, err)
	}
}

func TestDataIsOnlyForItsOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // folders there inherit the rights of the profile
	}
	dir := filepath.Join(t.TempDir(), "data")
	s := openAt(t, dir, noon)
	j := addJob(t, s, "photos")
	record(t, s, Run{Job: j.ID, Outcome: Done}, nil, nil)
	closeStore(t, s)
	openAt(t, dir, noon) // takes a daily copy
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"."}, namesOf(entries)...) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: got mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestSecondOpenerIsLockedOut(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	_, err := Open(Config{Dir: dir, Wait: time.Millisecond})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "--data") {
		t.Fatalf("got %v, want ErrLocked that says what to do", err)
	}
	closeStore(t, s)
	openAt(t, dir, noon)
}

// TestSecondProcessIsLockedOut runs this test binary again as the other process.
func TestSecondProcessIsLockedOut(t *testing.T) {
	const variable = "HOURHAND_TEST_OPEN"
	if dir := os.Getenv(variable); dir != "" {
		_, err := Open(Config{Dir: dir, Wait: time.Millisecond})
		if !errors.Is(err, ErrLocked) {
			t.Fatalf("got %v, want ErrLocked", err)
		}
		return
	}
	dir := t.TempDir()
	openAt(t, dir, noon)
	other := exec.Command(os.Args[0], "-test.run=^TestSecondProcessIsLockedOut$")
	other.Env = append(os.Environ(), variable+"="+dir)
	if out, err := other.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// A cleaner may remove the lock file under a running Hourhand.
func TestLostLockFileDoesNotLetASecondOneIn(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // an open file cannot be removed there
	}
	dir := t.TempDir()
	openAt(t, dir, noon)
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrLocked) {
		t.Fatalf("got %v, want ErrLocked", err)
	}
}

// What a writer has half-written looks damaged, and is none of our business.
func TestLockedDatabaseIsNeverPutAside(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // an open file cannot be removed there
	}
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	tear(t, dir)
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if kept := damagedFiles(t, dir); len(kept) > 0 {
		t.Errorf("put aside: %v", kept)
	}
}

func TestOpenWaitsForTheLock(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	done := make(chan error)
	go func() {
		other, err := Open(Config{Dir: dir, Wait: time.Minute})
		if err == nil {
			err = other.Close()
		}
		done <- err
	}()
	closeStore(t, s)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	addJob(t, s, "photos")
	if err := s.db.update(func(tx *bbolt.Tx) error {
		return put(tx.Bucket(bucketMeta), "schema", len(migrations)+1)
	}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	before := readFile(t, filepath.Join(dir, dbName))
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrNewer) {
		t.Fatalf("got %v, want ErrNewer", err)
	}
	if readFile(t, filepath.Join(dir, dbName)) != before {
		t.Error("the newer database was changed")
	}
}

func TestNewerListOfJobsIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	newer := `{"version":2,"jobs":[]}`
	if err := os.WriteFile(filepath.Join(dir, jobsName), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrNewer) {
		t.Fatalf("got %v, want ErrNewer", err)
	}
	if got := readFile(t, filepath.Join(dir, jobsName)); got != newer {
		t.Errorf("got %s, want it unchanged", got)
	}
}

func TestRunsCutShortBecomeInterrupted(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	j := addJob(t, s, "photos")
	record(t, s, Run{Job: j.ID, Hour: 12, Outcome: Done}, nil, &Hour{Content: "sealed", SealedBy: "x"})
	cut, err := s.Begin(Run{Job: j.ID, Hour: 12, Due: noon})
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)

	later := noon.Add(3 * time.Hour)
	s = openAt(t, dir, later)
	r, err := s.Run(cut.ID)
	if err != nil || r.Outcome != Interrupted || !r.Ended.Equal(later) || r.Reason == "" {
		t.Errorf("got %+v, %v", r, err)
	}
	board, _ := s.Board(j.ID)
	if h := board[12]; h.Content != "sealed" || h.Outcome != Interrupted || h.LastRun != cut.ID {
		t.Errorf("board: got %+v, want the old content under the interrupted run", h)
	}
	closeStore(t, s)

	s = openAt(t, dir, later.Add(time.Hour)) // once is enough
	if r, _ := s.Run(cut.ID); !r.Ended.Equal(later) {
		t.Errorf("ended again at %v", r.Ended)
	}
}

func TestSealedRunThatWasNotRecordedIsDone(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	j := addJob(t, s, "photos")
	cut, err := s.Begin(Run{Job: j.ID, Hour: 12})
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)

	s = openWith(t, Config{Dir: dir, WasSealed: func(job Job, r Run) (Hour, bool) {
		if job.ID != j.ID || r.ID != cut.ID {
			t.Errorf("asked about %v, %v", job.ID, r.ID)
		}
		return Hour{Content: "sealed", SealedBy: r.ID, To: noon.Add(time.Minute)}, true
	}})
	r, err := s.Run(cut.ID)
	if err != nil || r.Outcome != Done || !r.Sealed || !r.Ended.Equal(noon.Add(time.Minute)) {
		t.Errorf("got %+v, %v", r, err)
	}
	board, _ := s.Board(j.ID)
	if h := board[12]; h.Content != "sealed" || h.Outcome != Done || h.LastRun != cut.ID {
		t.Errorf("board: got %+v", h)
	}
}

func TestClosedStoreAnswersWithAnError(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	closeStore(t, s)
	if _, err := s.Jobs(); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("Jobs: got %v", err)
	}
	if _, err := s.PutJob(Job{Name: "photos"}); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("PutJob: got %v", err)
	}
}

func namesOf(entries []fs.DirEntry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
