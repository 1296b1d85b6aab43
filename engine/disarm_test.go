package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The guard and the mark must hold whatever the runs before did.

func TestHeldRunStaysHeldWhenTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.many("a", 200)
	w.run(Done)
	for i := range 150 {
		w.remove(fmt.Sprintf("a/f%04d", i))
	}
	w.write("new", "new")
	w.run(Held)
	w.run(Held)
}

func TestHeldReplacementsStayHeld(t *testing.T) {
	w := newWorld(t)
	w.many("a", 200)
	w.run(Done)
	for i := range 200 {
		w.later(fmt.Sprintf("a/f%04d", i), "ransom")
	}
	w.run(Held)
	w.run(Held)
}

func TestFailedRunDoesNotDisarmTheGuard(t *testing.T) {
	w := newWorld(t)
	w.many("a", 200)
	w.run(Done)
	w.write("new", "new")
	w.m.hook = func(s, p string) error {
		if s == "proofs" {
			return errors.New("boom")
		}
		return nil
	}
	w.run(Failed)
	w.m.hook = nil
	w.remove("a")
	w.remove("new")
	w.run(Held)
}

func TestDamagedIdxDoesNotDisarmTheGuard(t *testing.T) {
	w := newWorld(t)
	w.many("a", 100)
	for h := range 24 {
		w.m.Dests = []Dest{{w.dst, h}}
		w.run(Done)
	}
	w.must(os.WriteFile(filepath.Join(w.dst, own, "23.idx"), []byte("rot"), 0o600))
	w.remove("a")
	left := 0
	for h := range 24 {
		w.m.Dests = []Dest{{w.dst, h}}
		Run(context.Background(), w.m, nil)
		if w.exists(w.inCopy("a/f0000")) {
			left++
		}
	}
	if left < 24 {
		t.Errorf("one bad idx and an empty source: %d of 24 hours still have the files", left)
	}
}

func TestReplacementsOfHeldRunsDoNotAddUp(t *testing.T) {
	w := newWorld(t)
	w.many("a", 400)
	w.m.Dests = nil
	for h := range 6 {
		w.m.Dests = append(w.m.Dests, Dest{w.dst, h})
	}
	Run(context.Background(), w.m, nil)
	for i := range 400 {
		w.later(fmt.Sprintf("a/f%04d", i), "ransom")
	}
	for range 3 {
		for h := range 5 {
			w.m.Dests = []Dest{{w.dst, h}}
			rs, _ := Run(context.Background(), w.m, nil)
			if rs[0].Outcome != Held {
				t.Errorf("hour %d %s", h, rs[0].Outcome)
			}
		}
	}
	for h := range 6 {
		n := 0
		for i := range 400 {
			if w.read(filepath.Join(w.dst, slot(h), fmt.Sprintf("a/f%04d", i))) == "ransom" {
				n++
			}
		}
		t.Logf("hour %d: %d replaced", h, n)
		if n > 50 {
			t.Errorf("hour %d: %d replaced without approval", h, n)
		}
	}
}

func TestLinksCountForTheGuard(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f")
	for i := range 100 {
		w.must(os.Symlink("f", filepath.Join(w.src, "l"+string(rune('a'+i%26))+string(rune('a'+i/26)))))
	}
	w.run(Done)
	for i := range 100 {
		w.remove("l" + string(rune('a'+i%26)) + string(rune('a'+i/26)))
	}
	w.run(Held)
}

func TestSwitchToChangesExpiresNoMirror(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 9
	w.many("a", 200)
	w.run(Done)
	w.m.Mode, w.m.Keep = ModeChanges, time.Nanosecond
	w.run(Done)
	time.Sleep(1100 * time.Millisecond)
	reports, _ := Run(context.Background(), w.m, nil)
	if n := reports[0].Removed.Files; n > 50 {
		t.Errorf("%s: removed %d of 200 files of a mirror hour, unguarded", reports[0].Outcome, n)
	}
}

func TestAdoptPutsAnotherJobsFilesAside(t *testing.T) {
	w := newWorld(t)
	w.m.Owner = Owner{JobID: "A", Job: []byte(`{}`)}
	w.m.Dests[0].Hour = 9
	w.many("a", 10)
	w.write("keep", "keep")
	w.run(Done)
	src2 := t.TempDir()
	w.must(os.WriteFile(src2+"/other", []byte("o"), 0o644))
	w.must(os.MkdirAll(src2+"/a", 0o755))
	w.must(os.WriteFile(src2+"/a/f0000", []byte("differs"), 0o644))
	w.m.Source, w.m.Owner, w.m.Adopt = src2, Owner{JobID: "B", Job: []byte(`{}`)}, true
	r := w.run(Done)
	if r.Removed.Files > 0 || len(w.found()) != 11 {
		t.Errorf("removed %d, found %d, want 0 and 11", r.Removed.Files, len(w.found()))
	}
}

// hazard H05
func TestSystemFoldersOfADriveRootStay(t *testing.T) {
	for _, c := range []string{"delete-excluded", "no-defaults", "plain"} {
		t.Run(c, func(t *testing.T) {
			w := newWorld(t)
			w.write("x", "x")
			for _, n := range []string{"lost+found", "System Volume Information", "$RECYCLE.BIN", ".Trash-1000", ".Trashes"} {
				w.mkdir(filepath.Join(w.dst, n))
				w.must(os.WriteFile(filepath.Join(w.dst, n, "f"), []byte("f"), 0o644))
			}
			w.m.DeleteExcluded = c == "delete-excluded"
			w.m.NoDefaults = c == "no-defaults"
			w.run(Done)
			if f := w.found(); len(f) > 0 {
				t.Errorf("found %v", f)
			}
		})
	}
}

func TestHourOutOfRangeTouchesNoState(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 0
	w.write("a", "a")
	w.run(Done)
	w.m.Dests[0].Hour = 24
	w.run(Failed)
	w.m.Dests[0].Hour = 0
	if st := w.state(); st.Content != Sealed {
		t.Errorf("hour 00 is %q", st.Content)
	}
}

func TestHourReplacedDuringTheRunIsNotSealed(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 14
	w.many("a", 5)
	w.m.hook = func(s, p string) error {
		if s == "barrier" {
			if os.Rename(filepath.Join(w.dst, "14"), filepath.Join(w.dst, "moved")) == nil {
				os.Symlink(w.TB.TempDir(), filepath.Join(w.dst, "14"))
			}
		}
		return nil
	}
	reports, err := Run(context.Background(), w.m, nil)
	if reports[0].Sealed {
		t.Errorf("sealed although 14 is a link elsewhere: %v %v", reports[0].Outcome, err)
	}
}
