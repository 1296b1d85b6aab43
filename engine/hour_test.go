package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (w *world) inCopy(path string) string { return filepath.Join(w.copy(), path) }

func (w *world) read(path string) string {
	w.Helper()
	data, err := os.ReadFile(path)
	w.must(err)
	return string(data)
}

func (w *world) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// found lists what was put aside, by path in the copy.
func (w *world) found() map[string]string {
	w.Helper()
	all := map[string]string{}
	base := filepath.Join(w.dst, own, found)
	filepath.WalkDir(base, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(base, p)
			parts := strings.SplitN(filepath.ToSlash(rel), "/", 3)
			all[parts[2]] = w.read(p)
		}
		return nil
	})
	return all
}

func TestChangesReachTheCopy(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 14
	w.many("d", 60)
	w.write("kept", "kept")
	w.write("edited", "before")
	w.run(Done)

	w.later("edited", "after")
	w.later("new", "new")
	w.remove("d/f0007")
	r := w.run(Done)
	if r.Copied.Files != 1 || r.Updated.Files != 1 || r.Removed.Files != 1 || r.Unchanged.Files != 60 {
		t.Errorf("copied %d, updated %d, removed %d, unchanged %d; want 1, 1, 1, 60", r.Copied.Files, r.Updated.Files, r.Removed.Files, r.Unchanged.Files)
	}
	w.equal()
}

func TestTypeSwapsConvergeInOneRun(t *testing.T) {
	w := newWorld(t)
	w.m.Yes = true
	put := map[string]func(p string){
		"file":   func(p string) { w.write(p, "file") },
		"folder": func(p string) { w.write(p+"/below/x", "x"); w.write(p+"/y", "y") },
		"link":   func(p string) { w.must(os.Symlink("elsewhere", filepath.Join(w.src, p))) },
	}
	for from := range put {
		for to := range put {
			put[from](from + " to " + to)
		}
	}
	w.run(Done)
	w.equal()
	for from := range put {
		for to := range put {
			w.remove(from + " to " + to)
			put[to](from + " to " + to)
		}
	}
	w.run(Done)
	w.equal()
	if f := w.found(); len(f) > 0 {
		t.Errorf("our own files were put aside: %v", f)
	}
}

func TestFilesThatAreNotOursGoToFound(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 3
	w.write("same name", "the source's")
	w.write("edited there", "the source's")
	w.write("d/x", "x")
	w.run(Done)
	w.must(os.WriteFile(w.inCopy("edited there"), []byte("my notes"), 0o644))
	w.must(os.WriteFile(w.inCopy("d/extra"), []byte("extra"), 0o644))
	w.must(os.WriteFile(w.inCopy("later"), []byte("was here first"), 0o644))
	w.write("later", "the source's")
	w.run(Done)
	w.equal()
	want := map[string]string{"edited there": "my notes", "d/extra": "extra", "later": "was here first"}
	got := w.found()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestCopyOfDeletedFileIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.write("a/x", "x")
	w.write("b", "b")
	w.run(Done)
	w.must(os.RemoveAll(w.inCopy("a")))
	w.run(Done)
	w.equal()
}

// same size, same mtime: only ctime tells (borgbackup/borg#3730)
func TestContentChangedBehindTheSameTimeIsCopied(t *testing.T) {
	w := newWorld(t)
	w.write("x", "before")
	w.run(Done)
	w.write("x", "behind")
	r := w.run(Done)
	if r.Updated.Files != 1 {
		t.Errorf("updated %d files, want 1", r.Updated.Files)
	}
	w.equal()
}

func TestMetadataIsMendedWithoutCopying(t *testing.T) {
	w := newWorld(t)
	w.many("d", 20)
	w.run(Done)
	for i := range 20 {
		w.must(os.Chmod(filepath.Join(w.src, fmt.Sprintf("d/f%04d", i)), 0o600))
	}
	w.must(os.Chmod(filepath.Join(w.src, "d"), 0o700))
	r := w.run(Done)
	if r.Copied.Files+r.Updated.Files != 0 || r.Unchanged.Files != 20 {
		t.Errorf("copied %d, updated %d, unchanged %d; want 0, 0, 20", r.Copied.Files, r.Updated.Files, r.Unchanged.Files)
	}
	w.equal()
}

// git's racy index: a file modified just before it was read may change again
// without another mtime
func TestFileModifiedWhileItWasReadIsComparedAgain(t *testing.T) {
	w := newWorld(t)
	p := filepath.Join(w.src, "x")
	w.must(os.WriteFile(p, []byte("before"), 0o644))
	future := time.Now().Add(time.Hour)
	w.must(os.Chtimes(p, future, future))
	w.run(Done)
	idx := w.index()
	if e := idx["x"]; e.Flags == 0 {
		t.Errorf("a file with an mtime in the future is not marked racy")
	}
}

func TestUnreadableThingsDoNotStopTheRest(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("as root nothing is unreadable: see TestUnreadableThingsAsUser")
	}
	w := newWorld(t)
	w.write("good", "good")
	w.write("dir/inside", "inside")
	w.write("gone", "gone")
	w.run(Done)
	w.remove("gone")
	w.m.hook = func(step, path string) error {
		if step == "list" && path == "dir" {
			return fs.ErrPermission
		}
		return nil
	}
	w.later("dir/inside", "changed")
	w.later("good", "better")
	r := w.run(Partial)
	if r.ProblemCount != 1 || r.Problems[0].Path != "dir" || r.Problems[0].Cause != CauseListing {
		t.Errorf("problems %v, want one about the folder dir", r.Problems)
	}
	if got := w.read(w.inCopy("dir/inside")); got != "inside" {
		t.Errorf("a file below the unreadable folder is %q, want it as it was", got)
	}
	if w.exists(w.inCopy("gone")) || w.read(w.inCopy("good")) != "better" {
		t.Errorf("the other folders did not go on")
	}
	w.m.hook = nil
	w.run(Done)
	w.equal()
}

func TestExcludedPathsAreNeitherCopiedNorRemoved(t *testing.T) {
	w := newWorld(t)
	w.write("a.tmp", "a")
	w.write("d/keep", "keep")
	w.write("d/b.tmp", "b")
	w.write("lost+found/x", "x")
	w.run(Done)
	if w.exists(w.inCopy("lost+found")) {
		t.Error("a default exclude was copied")
	}
	w.m.Excludes = []string{"*.tmp"}
	w.write("c.tmp", "c")
	w.remove("a.tmp")
	w.remove("d")
	w.m.Yes = true
	r := w.run(Done)
	if w.exists(w.inCopy("c.tmp")) {
		t.Error("an excluded file was copied")
	}
	if !w.exists(w.inCopy("a.tmp")) || !w.exists(w.inCopy("d/b.tmp")) {
		t.Error("an excluded file was removed from the copy")
	}
	if w.exists(w.inCopy("d/keep")) {
		t.Error("a file that is gone and not excluded stays")
	}
	if r.LeftOut.Excluded == 0 {
		t.Error("nothing is counted as left out")
	}
	w.m.DeleteExcluded = true
	w.run(Done)
	if w.exists(w.inCopy("a.tmp")) || w.exists(w.inCopy("d")) {
		t.Error("--delete-excluded left an excluded file")
	}
}

func TestSeveralTargetsAndHoursFromOneReading(t *testing.T) {
	w := newWorld(t)
	w.many("d", 30)
	w.must(os.Link(filepath.Join(w.src, "d/f0001"), filepath.Join(w.src, "linked")))
	second := filepath.Join(filepath.Dir(w.dst), "second")
	w.mkdir(second)
	w.m.Dests = nil
	for h := range 24 {
		w.m.Dests = append(w.m.Dests, Dest{w.dst, h})
	}
	w.m.Dests = append(w.m.Dests, Dest{second, OneShot})
	reports, err := Run(context.Background(), w.m, nil)
	w.must(err)
	if len(reports) != 25 {
		t.Fatalf("%d reports, want 25", len(reports))
	}
	for i, r := range reports {
		if r.Outcome != Done || r.Copied.Files != 31 || r.Dest != w.m.Dests[i] {
			t.Errorf("report %d: %+v", i, r)
		}
	}
	for _, d := range w.m.Dests {
		one := *w
		one.dst, one.m.Dests = d.Target, []Dest{d}
		one.equal()
	}
}

func TestOneTargetFailsTheOtherGoesOn(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.m.Dests = append(w.m.Dests, Dest{filepath.Join(w.dst, "no", "such"), OneShot})
	reports, err := Run(context.Background(), w.m, nil)
	if !errors.Is(err, ErrNoTarget) || reports[0].Outcome != Done || reports[1].Outcome != Failed {
		t.Errorf("error %v, outcomes %v %v; want ErrNoTarget, done, failed", err, reports[0].Outcome, reports[1].Outcome)
	}
	w.equal()
}

func TestVerifyKinds(t *testing.T) {
	for proof, want := range map[Proof]func(v Verified) int64{
		VerifyFull:   func(v Verified) int64 { return v.Device.Files + v.Cache.Files + v.Server.Files },
		VerifySource: func(v Verified) int64 { return v.Source.Files },
	} {
		w := newWorld(t)
		w.m.Verify = proof
		w.many("d", 10)
		r := w.run(Done)
		if n := want(r.Verified); n != 10 {
			t.Errorf("proof %v: %+v, want 10 of its kind", proof, r.Verified)
		}
		if n := want(w.state().Verified); n != 10 {
			t.Errorf("proof %v: state says %+v, want 10 of its kind", proof, w.state().Verified)
		}
	}
}

func TestChecksumFindsWhatStatHides(t *testing.T) {
	w := newWorld(t)
	w.write("x", "before")
	w.run(Done)
	w.m.Checksum = true
	r := w.run(Done)
	if r.Unchanged.Files != 1 || r.Changed && r.Updated.Files > 0 {
		t.Errorf("%+v, want the file compared and unchanged", r)
	}
	w.equal()
}
