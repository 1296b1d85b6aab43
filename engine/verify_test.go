package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func (w *world) verify(h Hour) Audit {
	w.Helper()
	h.Dest = w.m.Dests[0]
	a, err := Verify(context.Background(), h, nil)
	w.must(err)
	return a
}

// rot changes a file of the copy and leaves its size and times.
func (w *world) rot(path, data string) {
	w.Helper()
	p := w.inCopy(path)
	info, err := os.Stat(p)
	w.must(err)
	w.must(os.WriteFile(p, []byte(data), 0o644))
	w.must(os.Chtimes(p, info.ModTime(), info.ModTime()))
}

func TestVerifyTellsRotFromEdits(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 23
	w.write("d/equal", "equal")
	w.write("rotten", "before")
	w.write("edited", "before")
	w.write("missing", "missing")
	w.run(Done)
	if a := w.verify(Hour{}); a.FoundCount != 0 || a.Equal.Files != 4 {
		t.Fatalf("a fresh hour: %+v", a)
	}
	w.rot("rotten", "BEFORE")
	w.must(os.WriteFile(w.inCopy("edited"), []byte("edited by hand"), 0o644))
	w.must(os.Remove(w.inCopy("missing")))
	w.must(os.WriteFile(w.inCopy("d/extra"), nil, 0o644))
	a := w.verify(Hour{})
	if a.Rot != 1 || a.Edited != 1 || a.Missing != 1 || a.Extra != 1 || a.Equal.Files != 1 {
		t.Errorf("audit %+v; want one of each", a)
	}
	for _, f := range a.Found {
		want := map[string]Finding{"rotten": FindingRot, "edited": FindingEdited, "missing": FindingMissing, "d/extra": FindingExtra}[f.Path]
		if f.Finding != want {
			t.Errorf("%s is found %q, want %q", f.Path, f.Finding, want)
		}
	}
}

func TestRepairHealsFromSourceThenSibling(t *testing.T) {
	w := newWorld(t)
	w.write("from source", "good bytes 1")
	w.write("from sibling", "good bytes 2")
	w.write("lost", "good bytes 3")
	w.m.Dests[0].Hour = 1
	w.run(Done)
	w.m.Dests[0].Hour = 2
	w.run(Done)
	other := w.inCopy("lost")
	w.m.Dests[0].Hour = 1
	for _, p := range []string{"from source", "from sibling", "lost"} {
		w.rot(p, "bad bytes!!!")
	}
	w.must(os.Remove(other))
	w.later("from sibling", "has changed")
	w.later("lost", "has changed too")
	before, err := os.Stat(w.inCopy("lost"))
	w.must(err)

	a := w.verify(Hour{Repair: true, Source: w.src})
	if a.Healed != 2 || a.Rot != 1 {
		t.Errorf("healed %d, rot %d (%v); want 2 and 1", a.Healed, a.Rot, a.Found)
	}
	if got := w.read(w.inCopy("from source")); got != "good bytes 1" {
		t.Errorf("from source: %q", got)
	}
	if got := w.read(w.inCopy("from sibling")); got != "good bytes 2" {
		t.Errorf("from sibling: %q", got)
	}
	if now, err := os.Stat(w.inCopy("lost")); err != nil || !os.SameFile(before, now) || w.read(w.inCopy("lost")) != "bad bytes!!!" {
		t.Error("what nobody has good bytes for must stay as it is")
	}
	if a := w.verify(Hour{}); a.Rot != 1 || a.Edited != 0 || a.Equal.Files != 2 {
		t.Errorf("after the repair: %+v", a)
	}
}

// A healed copy is what was sealed, and so are the folders around it.
func TestRepairLeavesFoldersTheirTimes(t *testing.T) {
	w := newWorld(t)
	w.write("top", "good bytes 1")
	w.write("d/below", "good bytes 2")
	for _, dir := range []string{"d", ""} {
		w.must(os.Chtimes(filepath.Join(w.src, dir), old, old))
	}
	w.run(Done)
	w.equal()
	w.rot("top", "bad bytes!!!")
	w.rot("d/below", "bad bytes!!!")
	if a := w.verify(Hour{Repair: true, Source: w.src}); a.Healed != 2 {
		t.Fatalf("healed %d of 2 (%v)", a.Healed, a.Found)
	}
	w.equal()
}

func TestRepairLeavesEditsAlone(t *testing.T) {
	w := newWorld(t)
	w.write("x", "sealed")
	w.run(Done)
	w.must(os.WriteFile(w.inCopy("x"), []byte("edited"), 0o644))
	if a := w.verify(Hour{Repair: true, Source: w.src}); a.Edited != 1 || a.Healed != 0 || w.read(w.inCopy("x")) != "edited" {
		t.Errorf("audit %+v", a)
	}
}

func TestVerifyRenewsTheDateOfProof(t *testing.T) {
	w := newWorld(t)
	w.m.Verify = VerifySource
	w.many("d", 5)
	w.run(Done)
	if st := w.state(); !st.Oldest.IsZero() || st.Verified.Source.Files != 5 {
		t.Fatalf("state %+v", st)
	}
	w.verify(Hour{})
	st := w.state()
	if st.Oldest.IsZero() || time.Since(st.Oldest) > time.Hour || st.Verified.Source.Files != 0 {
		t.Errorf("after a verification: oldest %v, verified %+v", st.Oldest, st.Verified)
	}
	w.run(Done)
	w.equal()
}

func TestVerifyOfWhatIsNotThere(t *testing.T) {
	w := newWorld(t)
	if _, err := Verify(context.Background(), Hour{Dest: Dest{w.dst, 5}}, nil); !errors.Is(err, ErrForeign) {
		t.Errorf("unmarked target: %v, want ErrForeign", err)
	}
	w.write("x", "x")
	w.run(Done)
	if _, err := Verify(context.Background(), Hour{Dest: Dest{w.dst, 5}}, nil); !errors.Is(err, ErrUsage) {
		t.Errorf("hour that was never written: %v, want ErrUsage", err)
	}
	if _, err := Verify(context.Background(), Hour{Dest: Dest{filepath.Join(w.dst, "no"), 5}}, nil); !errors.Is(err, ErrNoTarget) {
		t.Errorf("missing target: %v, want ErrNoTarget", err)
	}
}

func TestDamagedManifestIsFound(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.run(Done)
	name := filepath.Join(w.dst, own, "mirror.xxh128")
	w.must(os.WriteFile(name, []byte("00000000000000000000000000000000  x\n../../etc/passwd\n"), 0o644))
	if a := w.verify(Hour{}); a.Rot < 2 {
		t.Errorf("audit %+v; want the manifest and the file reported", a)
	}
}

func TestLostIdxIsRebuiltFromTheManifest(t *testing.T) {
	for name, spoil := range map[string]func(p string) error{
		"gone":      os.Remove,
		"truncated": func(p string) error { return os.Truncate(p, 30) },
		"garbage":   func(p string) error { return os.WriteFile(p, []byte("garbage"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.many("d", 10)
			w.run(Done)
			w.must(spoil(filepath.Join(w.dst, own, "mirror.idx")))
			r := w.run(Done)
			if r.Copied.Files+r.Updated.Files != 0 || r.Unchanged.Files != 10 {
				t.Errorf("%+v; want 10 unchanged", r)
			}
			w.equal()
			w.run(Done)
			w.equal()
		})
	}
}
