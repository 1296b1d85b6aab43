package store

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestJobsAreListedByNameAndFoundByIDOrName(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	photos, music := addJob(t, s, "Photos"), addJob(t, s, "music")
	jobs, err := s.Jobs()
	if err != nil || len(jobs) != 2 || jobs[0].ID != music.ID || jobs[1].ID != photos.ID {
		t.Errorf("Jobs: got %v, %v", jobs, err)
	}
	for _, key := range []string{photos.ID, "Photos", "PHOTOS"} {
		if j, err := s.Job(key); err != nil || j.ID != photos.ID {
			t.Errorf("Job(%q): got %v, %v", key, j, err)
		}
	}
	if _, err := s.Job("letters"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestJobKeepsItsIDAndCreation(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	j := addJob(t, s, "photos")
	if j.ID == "" || !j.Created.Equal(noon) {
		t.Fatalf("got %+v, want an id and a creation", j)
	}
	closeStore(t, s)
	s = openAt(t, dir, noon.Add(time.Hour))
	renamed, err := s.PutJob(Job{ID: j.ID, Name: "pictures", Target: j.Target})
	if err != nil || renamed.ID != j.ID || !renamed.Created.Equal(noon) {
		t.Errorf("got %+v, %v", renamed, err)
	}
	if jobs, _ := s.Jobs(); len(jobs) != 1 || jobs[0].Name != "pictures" {
		t.Errorf("got %v", jobs)
	}
}

func TestWrongJobsAreRefusedWithTheirField(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	addJob(t, s, "photos")
	mac := []Job{}
	if runtime.GOOS == "windows" {
		mac = append(mac, Job{Name: "x", Target: "/MEDIA/disk/PHOTOS"})
	}
	for field, jobs := range map[string][]Job{
		"id":       {{ID: "a/b", Name: "x"}, {ID: strings.Repeat("i", 65), Name: "x"}},
		"name":     {{}, {Name: "PHOTOS"}, {Name: " x"}, {Name: "x "}, {Name: "a/b"}, {Name: "a\nb"}, {Name: "a\xff"}, {Name: strings.Repeat("n", 65)}},
		"source":   {{Name: "x", Source: "/home/\xff"}},
		"target":   append(mac, Job{Name: "x", Target: "/media/disk/photos/"}, Job{Name: "x", Target: "/media/../media/disk/photos"}, Job{Name: "x", Target: "/\xff"}),
		"excludes": {{Name: "x", Excludes: []string{"ok", "\xff"}}},
	} {
		for _, j := range jobs {
			_, err := s.PutJob(j)
			if je, ok := errors.AsType[*JobError](err); !ok || je.Field != field || je.Text == "" {
				t.Errorf("%+v: got %v, want a JobError of %s", j, err, field)
			}
		}
	}
	for _, name := range []string{"a", "Ann", "Bücher 2.0_x-y", strings.Repeat("ü", 64), "写真"} {
		if _, err := s.PutJob(Job{Name: name, Target: "/t/" + name}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestListOfJobsFollowsEachChange(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	listed := func() (names []string) {
		f, err := readJobs(dir)
		if err != nil || !f.intact {
			t.Fatalf("got %+v, %v", f, err)
		}
		for _, j := range f.Jobs {
			names = append(names, j.Name)
		}
		return names
	}
	photos := addJob(t, s, "photos")
	addJob(t, s, "music")
	if got := listed(); !slices.Equal(got, []string{"music", "photos"}) {
		t.Errorf("got %v", got)
	}
	if err := s.RemoveJob(photos.ID); err != nil {
		t.Fatal(err)
	}
	if got := listed(); !slices.Equal(got, []string{"music"}) {
		t.Errorf("got %v", got)
	}
}

func TestJobIsNotStoredWhereItsListCannotBe(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	blocked := filepath.Join(dir, jobsName+".new")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutJob(Job{Name: "photos"}); err == nil {
		t.Error("got no error")
	}
	if jobs, err := s.Jobs(); err != nil || len(jobs) != 0 {
		t.Errorf("got %v, %v, want none", jobs, err)
	}
}

func TestListOfJobsDoesNotTellAChangeThatFailed(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	addJob(t, s, "photos")
	s.db.bolt.MaxSize = 1 // as if the disk were full when the database grows
	if _, err := s.PutJob(Job{Name: "large", Excludes: []string{strings.Repeat("x", 1<<20)}}); err == nil {
		t.Fatal("got no error")
	}
	if f, err := readJobs(dir); err != nil || len(f.Jobs) != 1 || f.Jobs[0].Name != "photos" {
		t.Errorf("got %v, %v", f.Jobs, err)
	}
}

func TestRemovedJobLeavesNothing(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	gone, kept := addJob(t, s, "gone"), addJob(t, s, "kept")
	for _, j := range []Job{gone, kept} {
		record(t, s, Run{Job: j.ID, Hour: 12, Due: noon, Outcome: Partial}, []Problem{{Path: "a"}}, &Hour{Content: "sealed"})
		if err := s.Index(j.ID, 12, "r", files(10, "")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetSetting("x", 1); err != nil {
		t.Fatal(err)
	}
	open, err := s.Begin(Run{Job: gone.ID, Hour: 13})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveJob(gone.ID); err != nil {
		t.Fatal(err)
	}
	open.Outcome = Cancelled
	if err := s.Finish(open, nil, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("Finish of its run: got %v, want ErrNotFound", err)
	}
	for bucket, want := range map[string]int{
		"jobs": 1, "boards": 1, "runs": 1, "job-runs": 1, "running": 0, "dues": 1, "problems": 1, "indexed": 1, "versions": 10, "settings": 1,
	} {
		if got := len(dump(t, s)[bucket]); got != want {
			t.Errorf("%s: got %d entries, want %d", bucket, got, want)
		}
	}
	if err := s.RemoveJob(gone.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("again: got %v, want ErrNotFound", err)
	}
}

func TestProblemKeepsAnyName(t *testing.T) {
	for _, path := range []string{"plain", "ümlaut/<&>", "a\xffb", "line\nbreak", "\xed\xa0\x80"} {
		want := Problem{Path: path, Error: "cannot be read", Cause: "denied"}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Problem
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Errorf("%q: got %q by %s, %v", path, got.Path, data, err)
		}
		if strings.Contains(string(data), "path_b64") == utf8.ValidString(path) {
			t.Errorf("%q: got %s", path, data)
		}
	}
}
