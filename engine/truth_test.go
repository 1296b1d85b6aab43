package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A manifest lists what lies there, a count comes out, a verification tells what is so.

// crashAt fails a step; path "": of any file.
func crashAt(step, path string) func(s, p string) error {
	return func(s, p string) error {
		if s == step && (path == "" || p == path) {
			return errors.New("boom")
		}
		return nil
	}
}

func TestChangesModeTriesAFailedFileAgain(t *testing.T) {
	w := newWorld(t)
	w.m.Mode = ModeChanges
	w.m.Dests[0].Hour = 9
	w.write("a", "a")
	w.run(Done)
	w.write("x", "important")
	w.m.hook = func(s, p string) error {
		if s == "open" && p == "x" {
			return fs.ErrPermission
		}
		return nil
	}
	w.run(Partial)
	w.m.hook = nil
	w.m.Dests[0].Hour = 10
	w.run(Done)
	if !w.exists(w.inCopy("x")) {
		t.Error("x was never copied")
	}
}

func TestChangesModeRemembersWhatCouldNotBeListed(t *testing.T) {
	w := newWorld(t)
	w.m.Mode = ModeChanges
	w.m.Dests[0].Hour = 9
	w.many("a", 100)
	w.run(Done)
	w.m.hook = crashAt("list", "a")
	w.run(Partial)
	w.m.hook = nil
	r := w.run(Done)
	if r.Copied.Files > 0 {
		t.Errorf("copied %d files that never changed", r.Copied.Files)
	}
}

func TestManifestListsNothingOnlyAnnounced(t *testing.T) {
	w := newWorld(t)
	w.write("y", "y")
	w.run(Done)
	w.write("nd/x", "x")
	w.m.hook = func(s, p string) error {
		if s == "proofs" {
			return errors.New("boom")
		}
		return nil
	}
	w.run(Failed)
	w.remove("nd")
	w.run(Failed)
	w.m.hook = nil
	w.run(Done)
	w.equal()
}

func TestIntentsAfterASealAreHistory(t *testing.T) {
	w := newWorld(t)
	w.write("y", "y")
	w.run(Done)
	w.write("nd/x", "x")
	w.m.hook = crashAt("proofs", "")
	w.run(Failed)
	w.remove("nd")
	w.m.hook = crashAt("sweep", "")
	Run(context.Background(), w.m, nil)
	w.m.hook = nil
	if st := w.state(); st.Content != Sealed {
		t.Fatal(st.Content)
	}
	a, err := Verify(context.Background(), Hour{Dest: w.m.Dests[0]}, nil)
	t.Logf("audit %+v %v", a, err)
	w.write("z", "z")
	w.run(Done)
	w.equal()
}

func TestOfSeveralIntentsTheContentsDecide(t *testing.T) {
	w := newWorld(t)
	w.write("y", "y")
	w.run(Done)
	idx := w.read(filepath.Join(w.dst, own, "mirror.idx"))
	restore := func() { w.must(os.WriteFile(filepath.Join(w.dst, own, "mirror.idx"), []byte(idx), 0o600)) }
	w.write("x", "one")
	w.m.hook = crashAt("proofs", "")
	w.run(Failed)
	restore() // a kill writes no idx
	w.later("x", "two")
	w.m.hook = func(s, p string) error { // killed between the sync and the rename
		if s == "rename" || s == "proofs" {
			return errors.New("killed")
		}
		return nil
	}
	w.run(Failed)
	restore()
	w.write("x", "one") // the older version is put back
	w.m.hook = nil
	w.run(Done)
	w.equal()
}

func TestManifestHasTheHashOfWhatLiesThere(t *testing.T) {
	w := newWorld(t)
	w.write("y", "y")
	w.write("x", "zero")
	w.run(Done)
	idx := w.read(filepath.Join(w.dst, own, "mirror.idx"))
	w.later("x", "one")
	w.m.hook = crashAt("proofs", "")
	w.run(Failed)
	w.must(os.WriteFile(filepath.Join(w.dst, own, "mirror.idx"), []byte(idx), 0o600)) // a kill writes no idx
	w.m.hook = crashAt("open", "x")
	w.run(Partial)
	w.proven()
}

func TestManifestLacksWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	w.write("x", "zero")
	w.write("y", "zero")
	w.run(Done)
	w.must(os.Remove(w.inCopy("x")))
	w.m.hook = func(s, p string) error {
		if s == "open" && p == "x" {
			return fs.ErrPermission
		}
		return nil
	}
	w.write("z", "z")
	w.run(Partial)
	w.proven()
}

func TestVerifyBesideARunFindsNothingMissing(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 3
	w.write("stays", "stays")
	w.write("changes", "before")
	w.many("goes", 20)
	w.many("z", 3)
	w.m.Yes = true
	w.run(Done)
	w.later("changes", "after")
	w.remove("goes")
	g := &Gate{}
	g.Pause()
	out := make(chan Audit)
	w.m.hook = func(s, p string) error {
		if s == "begin" {
			go func() { a, _ := Verify(context.Background(), Hour{Dest: w.m.Dests[0], Gate: g}, nil); out <- a }()
			time.Sleep(300 * time.Millisecond) // it read the state and waits at the gate
		}
		return nil
	}
	w.run(Done)
	g.Resume()
	a := <-out
	if a.Missing+a.Edited+a.Extra+a.Rot > 0 {
		t.Errorf("a healthy hour that was being written: missing %d edited %d rot %d interrupted %v", a.Missing, a.Edited, a.Rot, a.Interrupted)
	}
}

func TestRepairTouchesNothingItCannotJudge(t *testing.T) {
	w := newWorld(t)
	w.m.Dests = []Dest{{w.dst, 1}, {w.dst, 2}}
	w.write("x", "sealed bytes")
	w.run(Done)
	p := filepath.Join(w.dst, "01", "x")
	w.must(os.WriteFile(p, []byte("my long edited notes"), 0o644))
	w.must(os.Remove(filepath.Join(w.dst, own, "01.idx")))
	a, err := Verify(context.Background(), Hour{Dest: Dest{w.dst, 1}, Repair: true}, nil)
	w.must(err)
	if got := w.read(p); got != "my long edited notes" {
		t.Errorf("edit destroyed: %q; audit %+v found %v", got, a, w.found())
	}
}

func TestRotOfALinkedFileIsNotSpread(t *testing.T) {
	w := newWorld(t)
	w.write("a", "good")
	w.must(os.Link(w.src+"/a", w.src+"/b"))
	w.run(Done)
	e := w.index()["a"]
	e2 := w.index()["b"]
	_ = e2
	// rot: same stat, other bytes: simulate by recording another hash and changing the copy alike
	e.Hash[0] ^= 1
	w.rewriteIndex("a", e)
	w.rewriteIndex("b", e)
	w.m.Checksum = true
	w.run(Partial)
}

func TestLinkedFileThatChangesIsAccountedFor(t *testing.T) {
	w := newWorld(t)
	w.write("a", "a")
	w.must(os.Link(w.src+"/a", w.src+"/b"))
	w.run(Done)
	w.later("a", "ab")
	n := 0
	w.m.hook = func(s, p string) error {
		if s == "read" {
			n++
			os.WriteFile(w.src+"/a", []byte(fmt.Sprint("changing", n)), 0o644)
		}
		return nil
	}
	w.run(Partial)
}

func TestTroubleAtOneHourIsNotCountedAtAnother(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.m.Dests = []Dest{{w.dst, 1}, {w.dst, 2}}
	w.run(Done)
	w.m.Checksum = true
	w.m.hook = func(s, p string) error {
		if s == "open" && p == "x" {
			os.Remove(filepath.Join(w.dst, "02", "x"))
		}
		return nil
	}
	reports, _ := Run(context.Background(), w.m, nil)
	if r := reports[0]; r.Outcome != Done {
		t.Errorf("hour 01: %s %v %v", r.Outcome, r.Err, r.Problems)
	}
	if r := reports[1]; r.Outcome != Partial {
		t.Errorf("hour 02: %s %v %v", r.Outcome, r.Err, r.Problems)
	}
}

func TestFolderThatCannotTakeItsPlaceIsAccountedFor(t *testing.T) {
	w := newWorld(t)
	w.write("x", "file")
	w.write("y", "y")
	w.run(Done)
	w.remove("x")
	w.write("x/in", "in")
	w.m.hook = func(s, p string) error {
		if s == "remove" && p == "x" {
			return errors.New("immutable")
		}
		return nil
	}
	w.run(Partial)
}

func TestFileThatVanishesInASwapIsAccountedFor(t *testing.T) {
	w := newWorld(t)
	w.write("x/in", "in")
	w.write("y", "y")
	w.run(Done)
	w.remove("x")
	w.write("x", "file")
	w.m.MaxDelete = MaxDelete{Set: true, Files: 1000}
	w.m.Yes = true
	w.m.hook = func(s, p string) error {
		if s == "remove" && p == "x" {
			w.remove("x")
		}
		return nil
	}
	reports, _ := Run(context.Background(), w.m, nil)
	if r := reports[0]; !r.Sealed {
		t.Errorf("%s %v %v", r.Outcome, r.Err, r.Problems)
	}
}

func TestOwnLinkedFilesAreReplacedNotPutAside(t *testing.T) {
	w := newWorld(t)
	w.write("b", "b")
	w.must(os.Link(w.src+"/b", w.src+"/c"))
	w.run(Done)
	w.later("b", "changed")
	w.run(Done)
	w.equal()
	if f := w.found(); len(f) > 0 {
		t.Errorf("changed: found %v", f)
	}
	w.remove("b")
	w.remove("c")
	w.write("z", "z")
	w.m.Yes = true
	r := w.run(Done)
	if r.Removed.Files != 2 {
		t.Errorf("removed %d", r.Removed.Files)
	}
	if f := w.found(); len(f) > 0 {
		t.Errorf("removed: found %v", f)
	}
}

func TestOwnCopyOfAGrowingLogIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.write("log", "1")
	on := true
	w.m.hook = func(s, p string) error {
		if s == "meta" && on {
			f, _ := os.OpenFile(w.src+"/log", os.O_APPEND|os.O_WRONLY, 0)
			f.WriteString("more")
			f.Close()
		}
		return nil
	}
	w.run(Partial)
	on = false
	w.later("log", "stable now")
	w.run(Done)
	if f := w.found(); len(f) > 0 {
		t.Errorf("found %v", f)
	}
}

func TestTrustIndexSurvivesASwap(t *testing.T) {
	w := newWorld(t)
	w.m.TrustIndex = true
	w.write("x/in", "in")
	w.write("y", "y")
	w.write("z/q", "q")
	w.run(Done)
	w.remove("x")
	w.write("x", "file")
	w.m.Yes = true
	w.run(Done)
	w.equal()
}
