package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tear damages the database for good: both meta pages.
func tear(t testing.TB, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, dbName), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, 2*os.Getpagesize()), 0); err != nil {
		t.Fatal(err)
	}
}

// twoJobs is a closed data folder with two jobs and a run, open for the second
// time: so there is a daily copy with copies.
func twoJobs(t testing.TB, copies bool) (dir string, jobs []Job, run Run) {
	t.Helper()
	dir = t.TempDir()
	s := openAt(t, dir, noon)
	jobs = []Job{addJob(t, s, "music"), addJob(t, s, "photos")}
	run = record(t, s, Run{Job: jobs[1].ID, Hour: 12, Due: noon, Outcome: Done}, nil, &Hour{Content: "sealed", Files: Count{1, 1}})
	closeStore(t, s)
	if copies {
		closeStore(t, openAt(t, dir, noon))
	}
	return dir, jobs, run
}

func damagedFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.damaged-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestDamagedDatabaseIsRebuiltFromJobsAndTargets(t *testing.T) {
	dir, jobs, _ := twoJobs(t, false)
	tear(t, dir)
	torn := readFile(t, filepath.Join(dir, dbName))
	s := openWith(t, Config{Dir: dir, Board: func(j Job) (Board, error) {
		if j.ID == jobs[0].ID {
			return Board{}, errors.New("no drive")
		}
		return Board{7: {Content: "sealed", SealedBy: "r7"}}, nil
	}})
	got, err := s.Jobs()
	if err != nil || !slices.EqualFunc(got, jobs, func(a, b Job) bool { return a.ID == b.ID && a.Target == b.Target }) {
		t.Errorf("jobs: got %v, %v", got, err)
	}
	if board, err := s.Board(jobs[1].ID); err != nil || board[7].SealedBy != "r7" || board[12].Content != "" {
		t.Errorf("board: got %+v, %v", board, err)
	}
	kept := damagedFiles(t, dir)
	if len(kept) != 1 || readFile(t, kept[0]) != torn {
		t.Errorf("kept %v, want the damaged file as it was", kept)
	}
	for _, want := range []string{"damaged", "All 2 jobs", "history of runs is lost", "music", kept[0]} {
		if !strings.Contains(s.Rebuilt(), want) {
			t.Errorf("Rebuilt does not say %q: %s", want, s.Rebuilt())
		}
	}
	closeStore(t, s)
	if s = openAt(t, dir, noon); s.Rebuilt() != "" {
		t.Errorf("told again: %s", s.Rebuilt())
	}
}

func TestDailyCopyBringsTheHistoryBack(t *testing.T) {
	dir, jobs, run := twoJobs(t, true)
	s := openAt(t, dir, noon)
	if err := s.RemoveJob(jobs[0].ID); err != nil { // after the copy was taken
		t.Fatal(err)
	}
	closeStore(t, s)
	tear(t, dir)
	s = openAt(t, dir, noon.Add(time.Hour))
	if ids := runIDs(t, s, jobs[1].ID); !slices.Equal(ids, []string{run.ID}) {
		t.Errorf("runs: got %v, want %v", ids, run.ID)
	}
	if got, _ := s.Jobs(); len(got) != 1 || got[0].ID != jobs[1].ID {
		t.Errorf("jobs: got %v, want those of jobs.json, not of the copy", got)
	}
	if board, _ := s.Board(jobs[1].ID); board[12].Content != "" {
		t.Errorf("board: got %+v, want nothing: the hour was written since, for all we know", board[12])
	}
	if !strings.Contains(s.Rebuilt(), "history of runs ends on") {
		t.Errorf("got %s", s.Rebuilt())
	}
}

func TestDamagedCopyIsPassedOver(t *testing.T) {
	dir, jobs, run := twoJobs(t, true)
	closeStore(t, openAt(t, dir, noon.Add(25*time.Hour)))
	copies, _ := listCopies(dir, noon.Add(30*time.Hour))
	if len(copies) != 2 {
		t.Fatalf("got %v, want two copies", copies)
	}
	if err := os.Truncate(copies[1], 5000); err != nil {
		t.Fatal(err)
	}
	tear(t, dir)
	s := openAt(t, dir, noon.Add(26*time.Hour))
	if ids := runIDs(t, s, jobs[1].ID); !slices.Equal(ids, []string{run.ID}) {
		t.Errorf("runs: got %v, want %v of the older copy", ids, run.ID)
	}
}

func TestLostDatabaseLosesNoJob(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, jobs, _ := twoJobs(t, false)
			if err := lose(filepath.Join(dir, dbName)); err != nil {
				t.Fatal(err)
			}
			s := openAt(t, dir, noon)
			if got, err := s.Jobs(); err != nil || len(got) != len(jobs) {
				t.Errorf("got %v, %v", got, err)
			}
			if !strings.Contains(s.Rebuilt(), "missing") {
				t.Errorf("got %q", s.Rebuilt())
			}
		})
	}
}

func TestDamagedListOfJobsIsRewrittenFromTheDatabase(t *testing.T) {
	dir, jobs, _ := twoJobs(t, false)
	path := filepath.Join(dir, jobsName)
	good := readFile(t, path)
	if err := os.WriteFile(path, []byte(good[:len(good)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, dir, noon)
	if got, err := s.Jobs(); err != nil || len(got) != len(jobs) {
		t.Errorf("got %v, %v", got, err)
	}
	if got := readFile(t, path); got != good {
		t.Errorf("got %s, want %s", got, good)
	}
	if kept := damagedFiles(t, dir); len(kept) != 1 || readFile(t, kept[0]) != good[:len(good)/2] {
		t.Errorf("kept %v, want the damaged list", kept)
	}
}

func TestBothDamagedStartsEmptyAndKeepsThem(t *testing.T) {
	dir, _, _ := twoJobs(t, false)
	tear(t, dir)
	if err := os.WriteFile(filepath.Join(dir, jobsName), []byte("\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, dir, noon)
	if jobs, err := s.Jobs(); err != nil || len(jobs) != 0 {
		t.Errorf("got %v, %v", jobs, err)
	}
	if !strings.Contains(s.Rebuilt(), "No jobs could be recovered") {
		t.Errorf("got %q", s.Rebuilt())
	}
	if kept := damagedFiles(t, dir); len(kept) != 2 {
		t.Errorf("kept %v, want both files", kept)
	}
	addJob(t, s, "photos") // and it works
}

func TestBothDamagedTakesJobsFromTheDailyCopy(t *testing.T) {
	dir, jobs, _ := twoJobs(t, true)
	tear(t, dir)
	if err := os.WriteFile(filepath.Join(dir, jobsName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, dir, noon)
	if got, err := s.Jobs(); err != nil || len(got) != len(jobs) {
		t.Errorf("got %v, %v", got, err)
	}
	if !strings.Contains(s.Rebuilt(), "Some jobs may be missing") {
		t.Errorf("got %q", s.Rebuilt())
	}
}

// A flipped bit in a value of the database parses; jobs.json proves its bytes.
func TestRottenJobIsMendedFromTheList(t *testing.T) {
	dir, jobs, _ := twoJobs(t, false)
	path := filepath.Join(dir, dbName)
	data := readFile(t, path)
	rotten := strings.ReplaceAll(data, "/media/disk/photos", "/media/dirk/photos")
	if rotten == data {
		t.Fatal("the target does not stand in the file")
	}
	if err := os.WriteFile(path, []byte(rotten), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, dir, noon)
	if j, err := s.Job(jobs[1].ID); err != nil || j.Target != jobs[1].Target {
		t.Errorf("got %v, %v, want %v", j.Target, err, jobs[1].Target)
	}
	if ids := runIDs(t, s, jobs[1].ID); len(ids) != 1 {
		t.Errorf("runs: got %v, want the one", ids)
	}
}

func TestJobThatWasOnlyListedIsAdded(t *testing.T) {
	dir, jobs, _ := twoJobs(t, false)
	more := append(slices.Clone(jobs), Job{ID: "third", Name: "third", Target: "/third"})
	if err := writeJobs(dir, more); err != nil { // a power cut before the commit
		t.Fatal(err)
	}
	s := openAt(t, dir, noon)
	if _, err := s.Job("third"); err != nil {
		t.Error(err)
	}
}

func TestThreeDailyCopiesAreKept(t *testing.T) {
	dir, _, _ := twoJobs(t, false)
	for hour := 0; hour < 24*6; hour += 7 {
		closeStore(t, openAt(t, dir, noon.Add(time.Duration(hour)*time.Hour)))
	}
	copies, _ := listCopies(dir, noon.AddDate(0, 0, 10))
	if len(copies) != keepCopies {
		t.Fatalf("got %v, want %d", copies, keepCopies)
	}
	for i := range copies[1:] {
		if apart := copyTime(copies[i+1]).Sub(copyTime(copies[i])); apart < 24*time.Hour || apart > 31*time.Hour {
			t.Errorf("got %v between %v", apart, copies[i:i+2])
		}
	}
	if odd, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(odd) > 0 {
		t.Errorf("left behind: %v", odd)
	}
}

// A clock that stood in the future once must not stop copies, nor one that went
// back cost all of them.
func TestWrongClockKeepsCopies(t *testing.T) {
	dir, _, _ := twoJobs(t, false)
	for _, years := range []int{0, 1, 2, -30, -30} {
		closeStore(t, openAt(t, dir, noon.AddDate(years, 0, 0)))
	}
	copies, ahead := listCopies(dir, noon.AddDate(-29, 0, 0))
	if len(copies) != 1 || len(ahead) != 2 {
		t.Errorf("got %v and ahead %v", copies, ahead)
	}
}

func TestHalfWrittenFilesAreSweptAtOpen(t *testing.T) {
	dir := t.TempDir()
	ours := []string{dbName + ".new", dbName + ".compact", dbName + ".copy-20261130-120000.new", jobsName + ".new"}
	foreign := []string{"notes.new", dbName + ".damaged-20261130-120000"}
	for _, name := range slices.Concat(ours, foreign) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openAt(t, dir, noon)
	for _, name := range ours {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range foreign {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
