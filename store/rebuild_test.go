package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
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
	if err := s.SetSetting("theme", "dark"); err != nil {
		t.Fatal(err)
	}
	run = record(t, s, Run{Job: jobs[1].ID, Hour: 12, Due: noon, Outcome: Done}, []Problem{{Path: "a"}}, &Hour{Content: "sealed", Files: Count{1, 1}})
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
	for _, want := range []string{"damaged", "No job is lost (2)", "history of runs is lost", "music", kept[0]} {
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
	if due, err := s.LastDue(jobs[1].ID); err != nil || !due.Equal(noon) {
		t.Errorf("LastDue: got %v, %v", due, err)
	}
	if problems, err := s.Problems(run.ID); err != nil || len(problems) != 1 {
		t.Errorf("problems: got %v, %v", problems, err)
	}
	theme := ""
	if _, err := s.Setting("theme", &theme); err != nil || theme != "dark" {
		t.Errorf("setting: got %q, %v", theme, err)
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

// A list whose sum is wrong (rot, a hand) never overrules a sound database, and is
// used, with a word, where there is none.
func TestChangedListIsDoubted(t *testing.T) {
	dir, jobs, _ := twoJobs(t, false)
	path := filepath.Join(dir, jobsName)
	good := readFile(t, path)
	changed := strings.ReplaceAll(good, "/media/disk/photos", "/media/dirk/photos")
	change := func() {
		t.Helper()
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change()
	s := openAt(t, dir, noon)
	if j, err := s.Job(jobs[1].ID); err != nil || j.Target != jobs[1].Target || readFile(t, path) != good {
		t.Errorf("got %v, %v, want the database's", j.Target, err)
	}
	closeStore(t, s)

	change()
	tear(t, dir)
	s = openAt(t, dir, noon)
	if j, err := s.Job(jobs[1].ID); err != nil || j.Target != "/media/dirk/photos" {
		t.Errorf("got %v, %v, want the list's", j.Target, err)
	}
	kept := damagedFiles(t, dir)
	if !strings.Contains(s.Rebuilt(), "look them through") || len(kept) != 2 || readFile(t, kept[1]) != changed {
		t.Errorf("got %q, kept %v", s.Rebuilt(), kept)
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
	for day := range 4 { // the clock is right again
		closeStore(t, openAt(t, dir, noon.AddDate(0, 1, day)))
	}
	if copies, ahead = listCopies(dir, noon.AddDate(0, 2, 0)); len(copies) != 3 || len(ahead) != 0 {
		t.Errorf("later: got %v and ahead %v", copies, ahead)
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

func TestLostListOfJobsIsToldWhenNeeded(t *testing.T) {
	dir, _, _ := twoJobs(t, false)
	tear(t, dir)
	if err := os.Remove(filepath.Join(dir, jobsName)); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, dir, noon)
	if !strings.Contains(s.Rebuilt(), "No jobs could be recovered: jobs.json is missing") {
		t.Errorf("got %q", s.Rebuilt())
	}
}

// rot writes a value behind the store's back.
func rot(t testing.TB, s *Store, bucket []byte, key, value string) {
	t.Helper()
	if err := s.db.update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).Put([]byte(key), []byte(value))
	}); err != nil {
		t.Fatal(err)
	}
}

// Bytes that rot and leave JSON behind cost their own record, and neither the
// history nor the start.
func TestRottenRecordCostsNothingElse(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	j := addJob(t, s, "a")
	var runs []Run
	for i := range 5 {
		due := noon.Add(time.Duration(i) * time.Hour)
		runs = append(runs, record(t, s, Run{Job: j.ID, Hour: due.Hour(), Due: due, Started: due, Outcome: Done}, nil, nil))
	}
	if err := s.SetSetting("pause", map[string]time.Time{"until": noon}); err != nil {
		t.Fatal(err)
	}
	rot(t, s, bucketRuns, runs[4].ID, `{"id":"x","started":"2026-1q"}`)
	rot(t, s, bucketRuns, runs[2].ID, `[]`)
	rot(t, s, bucketJobRuns, j.ID+"/nowhere", `3`)
	rot(t, s, bucketRunning, "nowhere", `"nobody"`)
	rot(t, s, bucketRunning, runs[2].ID, `"nobody"`)
	rot(t, s, bucketDues, j.ID+"/9", `"nowhere"`)
	rot(t, s, bucketSettings, "pause", `{"until":"2026-1q"}`)
	closeStore(t, s)

	s = openAt(t, dir, noon)
	if s.Rebuilt() != "" {
		t.Errorf("rebuilt: %s", s.Rebuilt())
	}
	want := []string{runs[3].ID, runs[1].ID, runs[0].ID}
	for range 2 {
		if got := runIDs(t, s, j.ID); !slices.Equal(got, want) {
			t.Errorf("runs: got %v, want %v", got, want)
		}
		if due, err := s.LastDue(j.ID); err != nil || !due.Equal(runs[4].Due) {
			t.Errorf("LastDue: got %v, %v", due, err)
		}
		if err := s.Trim(); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(dump(t, s)["job-runs"]); got != len(want) {
		t.Errorf("got %d entries after Trim, want the rotten ones gone", got)
	}
	pause := map[string]time.Time{"kept": noon}
	if found, err := s.Setting("pause", &pause); found || err != nil || len(pause) != 1 {
		t.Errorf("Setting: got %v, %v, %v", found, err, pause)
	}
}

func TestEachDamagedFileIsKept(t *testing.T) {
	dir, _, _ := twoJobs(t, false)
	for range 3 { // in the same second
		tear(t, dir)
		closeStore(t, openAt(t, dir, noon))
	}
	if kept := damagedFiles(t, dir); len(kept) != 3 {
		t.Errorf("kept %v, want three", kept)
	}
}

func TestRottenJobOrBoardIsDamage(t *testing.T) {
	for name, damage := range map[string]func(*Store, Job){
		"job":    func(s *Store, j Job) { rot(t, s, bucketJobs, j.ID, `{"id":"x"}`) },
		"board":  func(s *Store, j Job) { rot(t, s, bucketBoards, j.ID+"/77", `{}`) },
		"schema": func(s *Store, _ Job) { rot(t, s, bucketMeta, "schema", "-1") },
		"run":    func(s *Store, _ Job) { rot(t, s, bucketRuns, "r", "\x00") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openAt(t, dir, noon)
			j := addJob(t, s, "a")
			damage(s, j)
			closeStore(t, s)
			s = openAt(t, dir, noon)
			if got, err := s.Job(j.ID); err != nil || got.Name != "a" || s.Rebuilt() == "" {
				t.Errorf("got %v, %v, %q", got, err, s.Rebuilt())
			}
		})
	}
}
