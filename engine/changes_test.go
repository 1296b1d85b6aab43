package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// names lists the regular files of the hour.
func (w *world) names() map[string]string { return contents(w, w.copy()) }

func TestChangesModeCopiesWhatIsNewSinceTheLastRun(t *testing.T) {
	w := newWorld(t)
	w.m.Mode = ModeChanges
	w.m.Dests[0].Hour = 9
	w.write("archive/a", "a")
	w.write("archive/b", "b")
	r := w.run(Done)
	if len(w.names()) != 0 || r.Copied.Files != 0 {
		t.Errorf("the first run copied %v, want nothing", w.names())
	}
	w.proven()

	w.m.Dests[0].Hour = 10
	w.write("archive/new", "new")
	w.later("archive/b", "changed")
	w.must(os.Rename(filepath.Join(w.src, "archive"), filepath.Join(w.src, "moved")))
	w.run(Done)
	got := w.names()
	if len(got) != 2 || got["moved/new"] != "new" || got["moved/b"] != "changed" {
		t.Errorf("hour 10 holds %v, want the new and the changed file under their present paths", got)
	}
	w.proven()

	w.m.Dests[0].Hour = 11
	r = w.run(Done)
	if len(w.names()) != 0 || r.Unchanged.Files != 3 {
		t.Errorf("hour 11 holds %v; want nothing, since nothing changed", w.names())
	}

	w.m.Dests[0].Hour = 10
	w.write("moved/third", "third")
	w.run(Done)
	if got := w.names(); len(got) != 3 || got["moved/third"] != "third" {
		t.Errorf("hour 10 holds %v; want the third file over the two of before", got)
	}
	w.proven()
}

func TestChangesModeForgetsAfterKeep(t *testing.T) {
	w := newWorld(t)
	w.m.Mode = ModeChanges
	w.m.Keep = time.Nanosecond
	w.m.Dests[0].Hour = 9
	w.write("a", "a")
	w.run(Done)
	w.write("d/e/old", "old")
	w.run(Done)
	if len(w.names()) != 1 {
		t.Fatalf("hour holds %v", w.names())
	}
	w.write("fresh", "fresh")
	w.run(Done)
	w.age("d/e/old", time.Hour)
	w.run(Done)
	if got := w.names(); len(got) != 1 || got["fresh"] != "fresh" {
		t.Errorf("hour holds %v; want only the fresh file", got)
	}
	if w.exists(w.inCopy("d")) {
		t.Error("a folder left empty stays")
	}
	w.proven()
}

func TestChangesModeForgetsNothingBeforeAsManySeals(t *testing.T) {
	w := newWorld(t)
	w.m.Mode = ModeChanges
	w.m.Dests[0].Hour = 9
	w.write("a", "a")
	w.run(Done)
	w.write("kept", "kept")
	w.run(Done)
	w.m.Keep = 48 * time.Hour
	w.age("kept", 100*24*time.Hour)
	w.run(Done)
	if got := w.names(); got["kept"] != "kept" {
		t.Errorf("hour holds %v; one newer seal is not enough for a keep of two days", got)
	}
	w.run(Done)
	w.run(Done)
	if got := w.names(); len(got) != 0 {
		t.Errorf("hour holds %v; after two newer seals it goes", got)
	}
}

// age makes the idx say that a file came into the hour long ago.
func (w *world) age(path string, by time.Duration) {
	w.Helper()
	e := w.index()[path]
	e.Put = time.Now().Add(-by).Unix()
	w.rewriteIndex(path, e)
}

// nothing is removed because the source lost it, so nothing needs to be held
func TestChangesModeIsNotHeldByRemovals(t *testing.T) {
	w := newWorld(t)
	w.m.Mode = ModeChanges
	w.m.Dests[0].Hour = 9
	w.write("a", "a")
	w.run(Done)
	w.many("batch", 80)
	w.run(Done)
	w.remove("batch")
	w.write("b", "b")
	w.run(Done)
	if got := w.names(); len(got) != 81 {
		t.Errorf("hour holds %d files, want the 80 of before and the new one", len(got))
	}
}
