package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

func TestFileIndexFollowsTheSeals(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		w.engine.edit(func() { w.engine.files = []engine.HourEntry{{Path: "a.txt", Size: 1}, {Path: "b/a.txt", Size: 2}} })
		j := w.job("Photos", "0 11 * * *", "usb")
		run := func(day int) store.Run {
			t.Helper()
			w.sleep(24 * time.Hour)
			if got := w.last(j); got.Outcome != store.Done {
				t.Fatalf("day %d: %+v", day, got)
			}
			return w.last(j)
		}
		first := run(1)
		if got, err := w.config.Store.Indexed(j.ID, 11); got != first.ID || err != nil {
			t.Errorf("indexed %q, %v, want %q", got, err, first.ID)
		}
		var found []string
		for path := range w.config.Store.Search(j.ID, "a.txt") {
			found = append(found, path)
		}
		if !slices.Equal(found, []string{"a.txt", "b/a.txt"}) {
			t.Errorf("found %v", found)
		}
		w.engine.edit(func() {
			w.engine.report = func(_ engine.Mirror, rep *engine.Report) error { rep.Changed = false; return nil }
		})
		run(2) // the play's idx changes once more
		run(3)
		run(4)
		if w.engine.listed != 2 {
			t.Errorf("the hour was listed %d times, want 2: unchanged ones are known", w.engine.listed)
		}
	})
}
