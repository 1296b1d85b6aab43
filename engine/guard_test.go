package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// refused runs the world and wants it refused before anything changed.
func (w *world) refused(want error) {
	w.Helper()
	before := describe(w, w.dst)
	_, err := Run(context.Background(), w.m, nil)
	if !errors.Is(err, want) {
		w.Errorf("error %v, want %v", err, want)
	}
	if err := Check(w.m); !errors.Is(err, want) {
		w.Errorf("Check says %v, want %v", err, want)
	}
	if after := describe(w, w.dst); fmt.Sprint(before) != fmt.Sprint(after) {
		w.Errorf("a refused run changed the target: %v, was %v", after, before)
	}
}

func TestSourceGuards(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"missing":     func(w *world) { w.must(os.Remove(w.src)) },
		"a file":      func(w *world) { w.must(os.Remove(w.src)); w.must(os.WriteFile(w.src, nil, 0o644)) },
		"not given":   func(w *world) { w.m.Source = "" },
		"broken link": func(w *world) { w.must(os.Remove(w.src)); w.must(os.Symlink("nowhere", w.src)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			spoil(w)
			want := ErrNoSource
			if name == "not given" {
				want = ErrUsage
			}
			w.refused(want)
		})
	}
}

func TestSourceThatIsALinkToAFolderIsResolved(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	link := filepath.Join(filepath.Dir(w.src), "link")
	w.must(os.Symlink(w.src, link))
	w.m.Source = link + "/"
	w.run(Done)
	w.equal()
}

// rclone#7030: overlap hidden by a link; DietPi#2366: target inside the source
func TestOverlapIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"same":             func(w *world) { w.m.Dests[0].Target = w.src },
		"same by dots":     func(w *world) { w.m.Dests[0].Target = w.src + "/../source/." },
		"target in source": func(w *world) { w.mkdir(w.src + "/in"); w.m.Dests[0].Target = w.src + "/in" },
		"source in target": func(w *world) { w.m.Dests[0].Target = filepath.Dir(w.src) },
		"by a link": func(w *world) {
			w.mkdir(w.src + "/in")
			w.must(os.Symlink(w.src, w.dst+"/c"))
			w.m.Dests[0].Target = w.dst + "/c/in"
		},
		"to be made": func(w *world) { w.m.MakeDest = true; w.m.Dests[0].Target = w.src + "/new" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("x", "x")
			spoil(w)
			before := describe(t, w.src)
			w.refused(ErrOverlap)
			if after := describe(t, w.src); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("the source was touched: %v", after)
			}
		})
	}
}

func TestMissingTargetIsMadeOnlyIfAsked(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.dst = filepath.Join(w.dst, "new")
	w.m.Dests[0].Target = w.dst
	if _, err := Run(context.Background(), w.m, nil); !errors.Is(err, ErrNoTarget) {
		t.Errorf("error %v, want ErrNoTarget", err)
	}
	w.m.MakeDest = true
	w.run(Done)
	w.equal()
	w.m.Dests[0].Target = filepath.Join(w.dst, "..", "no", "parent")
	w.refused(ErrNoTarget)
}

func TestForeignTargetsAreRefused(t *testing.T) {
	other := Owner{JobID: "other", Job: json.RawMessage(`{}`)}
	for name, spoil := range map[string]func(w *world){
		"not empty":       func(w *world) { w.must(os.WriteFile(filepath.Join(w.dst, "precious"), nil, 0o644)) },
		"an hour by hand": func(w *world) { w.mkdir(filepath.Join(w.dst, "05")) },
		"another job":     func(w *world) { w.run(Done); w.m.Owner = other },
		"another source":  func(w *world) { w.run(Done); w.m.Source = w.TB.TempDir() },
		"another machine": func(w *world) { w.run(Done); w.edit("machine", "someone else's") },
		"hour is a link": func(w *world) {
			w.run(Done)
			w.must(os.Symlink(w.TB.TempDir(), filepath.Join(w.dst, "07")))
			w.m.Dests[0].Hour = 7
		},
		"a mark that lies":  func(w *world) { w.mkdir(filepath.Join(w.dst, "x")); w.mkdir(filepath.Join(w.dst, own)) },
		"job over one-shot": func(w *world) { w.run(Done); w.m.Owner = Owner{JobID: "mine"} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("x", "x")
			spoil(w)
			_, err := Run(context.Background(), w.m, nil)
			if !errors.Is(err, ErrForeign) {
				t.Errorf("error %v, want ErrForeign", err)
			}
		})
	}
}

// edit changes one value of the target's mark.
func (w *world) edit(key, value string) {
	w.Helper()
	name := filepath.Join(w.dst, own, "target.json")
	var m map[string]any
	w.must(json.Unmarshal([]byte(w.read(name)), &m))
	m[key] = value
	data, err := json.Marshal(m)
	w.must(err)
	w.must(os.WriteFile(name, data, 0o600))
}

func TestMirrorOverTheHoursOfAJobIsRefusedEvenIfAdopted(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.m.Owner = Owner{JobID: "mine"}
	w.m.Dests[0].Hour = 1
	w.run(Done)
	w.m.Owner, w.m.Adopt = Owner{}, true
	w.m.Dests[0].Hour = OneShot
	w.refused(ErrForeign)
	// the job itself may be taken over by another one: its hours stay
	w.m.Owner = Owner{JobID: "another"}
	w.m.Dests[0].Hour = 2
	w.run(Done)
	w.equal()
	if !w.exists(filepath.Join(w.dst, "01", "x")) {
		t.Error("an hour of the earlier job is gone")
	}
}

func TestTargetInsideAnotherTargetIsRefused(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.run(Done)
	w.mkdir(filepath.Join(w.dst, "sub"))
	w.m.Dests[0].Target = filepath.Join(w.dst, "sub")
	w.refused(ErrOverlap)
}

func TestFreshDriveRootCountsAsEmpty(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.mkdir(filepath.Join(w.dst, "lost+found"))
	w.mkdir(filepath.Join(w.dst, "System Volume Information"))
	w.m.Dests[0].Hour = 0
	w.run(Done)
	w.equal()
}

func TestAdoptKeepsEqualFilesAndPutsExtrasAside(t *testing.T) {
	w := newWorld(t)
	w.write("equal", "equal")
	w.write("differs", "the source's")
	w.must(os.WriteFile(w.inCopy("equal"), []byte("equal"), 0o644))
	w.must(os.Chtimes(w.inCopy("equal"), old, old))
	w.must(os.WriteFile(w.inCopy("differs"), []byte("another"), 0o644))
	w.must(os.WriteFile(w.inCopy("extra"), []byte("extra"), 0o644))
	kept, err := os.Stat(w.inCopy("equal"))
	w.must(err)
	w.refused(ErrForeign)
	w.m.Adopt = true
	r := w.run(Done)
	if r.Unchanged.Files != 1 {
		t.Errorf("unchanged %d, want the equal file kept", r.Unchanged.Files)
	}
	if now, err := os.Stat(w.inCopy("equal")); err != nil || !os.SameFile(kept, now) {
		t.Errorf("the equal file was not kept: %v", err)
	}
	w.equal()
	want := map[string]string{"differs": "another", "extra": "extra"}
	if got := w.found(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestAnotherVolumeIsHeld(t *testing.T) {
	for _, key := range []string{"volume", "source_volume"} {
		t.Run(key, func(t *testing.T) {
			w := newWorld(t)
			w.write("x", "x")
			w.run(Done)
			w.edit(key, "a drive of before")
			if d, err := DriveOf(w.dst); err != nil || d.ID == "" {
				t.Logf("no volume identity here (%v): nothing to compare", err)
				return
			}
			_, err := Run(context.Background(), w.m, nil)
			if !errors.Is(err, ErrVolume) {
				t.Errorf("error %v, want ErrVolume", err)
			}
			w.m.Yes = true
			w.run(Done)
		})
	}
}

// rclone#1186 and many more: a source that lost its files must not empty the copy
func TestMassRemovalIsHeldAndApproved(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 9
	w.many("a", 100)
	w.many("b", 100)
	w.run(Done)
	for i := range 60 {
		w.remove(fmt.Sprintf("a/f%04d", i))
	}
	w.write("new", "new")
	r := w.run(Held)
	if !errors.Is(r.Err, ErrHeld) || r.Plan == nil || r.Plan.Remove.Files != 60 || r.Plan.Of != 200 || r.Removed.Files != 0 {
		t.Fatalf("report %+v, plan %+v; want 60 of 200 held", r, r.Plan)
	}
	if !w.exists(w.inCopy("a/f0000")) || !w.exists(w.inCopy("new")) {
		t.Error("held: everything new must be there and nothing removed")
	}
	if st := w.state(); st.Content != Superset || st.LastRun.Outcome != Held {
		t.Errorf("state %+v, want a superset", st)
	}

	w.m.Plan = r.Plan.ID
	for i := range 3 { // beyond the plan, but below the threshold: counted anew
		w.remove(fmt.Sprintf("b/f%04d", i))
	}
	done := w.run(Done)
	if done.Removed.Files != 63 {
		t.Errorf("removed %d, want 63", done.Removed.Files)
	}
	w.equal()
	// one approval serves all hours for the same change
	w.m.Plan, w.m.Dests[0].Hour = "", 10
	w.run(Done)
	w.equal()
}

func TestApprovalDoesNotCoverMore(t *testing.T) {
	w := newWorld(t)
	w.many("a", 100)
	w.many("b", 100)
	w.run(Done)
	for i := range 60 {
		w.remove(fmt.Sprintf("a/f%04d", i))
	}
	r := w.run(Held)
	w.m.Plan = r.Plan.ID
	for i := range 60 {
		w.remove(fmt.Sprintf("b/f%04d", i))
	}
	again := w.run(Held)
	if again.Plan.Remove.Files != 120 || again.Plan.ID == r.Plan.ID || again.Removed.Files != 0 {
		t.Errorf("plan %+v, want a new one with 120 removals", again.Plan)
	}
}

func TestMassReplacementIsHeldBeyondFifty(t *testing.T) {
	w := newWorld(t)
	w.many("a", 200)
	w.run(Done)
	for i := range 150 {
		w.later(fmt.Sprintf("a/f%04d", i), "encrypted")
	}
	w.write("new", "new")
	r := w.run(Held)
	if r.Updated.Files > 50 || r.Copied.Files != 1 {
		t.Errorf("updated %d, copied %d; want at most 50 and the new file", r.Updated.Files, r.Copied.Files)
	}
	if st := w.state(); st.Content != Mixed {
		t.Errorf("content %q, want mixed", st.Content)
	}
	w.m.Plan = r.Plan.ID
	w.run(Done)
	w.equal()
}

func TestEmptySourceAndLostTopFolderAreHeld(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"empty":           func(w *world) { w.remove("a"); w.remove("b") },
		"top folder gone": func(w *world) { w.remove("a") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.many("a", 3)
			w.many("b", 3)
			w.run(Done)
			spoil(w)
			r := w.run(Held)
			if !w.exists(w.inCopy("a/f0000")) {
				t.Error("a held run removed something")
			}
			w.m.Plan = r.Plan.ID
			w.run(Done)
			w.equal()
		})
	}
}

func TestMaxDeleteIsTheUsersThreshold(t *testing.T) {
	for _, c := range []struct {
		max  MaxDelete
		gone int
		want Outcome
	}{
		{MaxDelete{}, 40, Done},
		{MaxDelete{}, 51, Held},
		{MaxDelete{Set: true}, 1, Held},
		{MaxDelete{Set: true, Files: 10}, 10, Done},
		{MaxDelete{Set: true, Files: 10}, 11, Held},
		{MaxDelete{Set: true, Percent: 60}, 60, Done},
		{MaxDelete{Set: true, Percent: 60}, 61, Held},
	} {
		t.Run(fmt.Sprintf("%+v %d", c.max, c.gone), func(t *testing.T) {
			w := newWorld(t)
			w.many("a", 100)
			w.run(Done)
			for i := range c.gone {
				w.remove(fmt.Sprintf("a/f%04d", i))
			}
			w.m.MaxDelete = c.max
			w.run(c.want)
		})
	}
}

func TestLostMarkIsRebuiltFromTheHours(t *testing.T) {
	w := newWorld(t)
	w.m.Owner = Owner{JobID: "mine", Job: json.RawMessage(`{"name":"Photos"}`)}
	w.m.Dests[0].Hour = 4
	w.write("x", "x")
	w.run(Done)
	w.must(os.Remove(filepath.Join(w.dst, own, "target.json")))
	w.run(Done)
	if k, err := ReadTarget(w.dst); err != nil || k.JobID != "mine" || string(k.Job) == "" {
		t.Errorf("mark %+v, error %v; want the job's", k, err)
	}
}

func TestSecondRunOnATargetIsRefused(t *testing.T) {
	w := newWorld(t)
	w.many("d", 20)
	w.m.hook = func(step, path string) error {
		if step == "state" {
			second := w.m
			second.hook = nil
			if _, err := Run(context.Background(), second, nil); !errors.Is(err, ErrLocked) {
				t.Errorf("a second run says %v, want ErrLocked", err)
			}
		}
		return nil
	}
	w.run(Done)
}
