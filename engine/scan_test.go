package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMain makes folders of more than six names large ones, and three folders
// that wait many, so that the tests meet lists in memory and in files.
func TestMain(m *testing.M) {
	bigFolder, manyFolders = 6, 3
	os.Exit(m.Run())
}

func TestListThatCannotBeKeptRemovesNothing(t *testing.T) {
	w := newWorld(t)
	w.many("d", 20)
	w.run(Done)
	w.remove("d/f0003")
	w.m.Scratch = filepath.Join(t.TempDir(), "missing")
	if rep := w.run(Failed); rep.Sealed || rep.Removed.Files > 0 {
		t.Errorf("got %+v, want a run that removed nothing", rep)
	}
	w.must(os.Mkdir(w.m.Scratch, 0o700))
	if rep := w.run(Done); rep.Removed.Files != 1 {
		t.Errorf("got %d removed, want 1", rep.Removed.Files)
	}
	w.equal()
}

// TestManyFoldersWait visits more folders than wait in memory, with what the idx
// says of each.
func TestManyFoldersWait(t *testing.T) {
	w := newWorld(t)
	w.m.Yes = true
	for i := range 40 {
		w.write(fmt.Sprintf("d%02d/e/f", i), fmt.Sprint(i))
	}
	w.run(Done)
	w.equal()
	if rep := w.run(Done); rep.Changed || rep.Unchanged.Files != 40 {
		t.Errorf("got %+v, want 40 files unchanged", rep)
	}
	w.remove("d07")
	w.later("d21/e/f", "other")
	if rep := w.run(Done); rep.Removed.Files != 1 || rep.Updated.Files != 1 {
		t.Errorf("got %+v, want one removed, one updated", rep)
	}
	w.equal()
}
