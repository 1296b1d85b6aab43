package agent

import (
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

func TestMissingTargetIsTriedWhenItIsBack(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() { w.engine.missing[j.Target] = true })
		w.sleep(2 * time.Hour) // 12:30
		if got := w.of(j); got.State != NoDrive || got.Missed != 2 || got.Cause != CauseNoTarget {
			t.Errorf("state %v, missed %d, cause %q", got.State, got.Missed, got.Cause)
		}
		w.want("without drive", w.records(j), "01T11:00Z skipped schedule 11", "01T12:00Z skipped schedule 12")
		w.engine.edit(func() { w.engine.missing[j.Target] = false })
		w.sleep(longestNap + 2*time.Minute)
		w.want("with drive", w.records(j), "01T11:00Z skipped schedule 11", "01T12:00Z skipped schedule 12", "01T12:00Z done catch-up 12")
		if got := w.of(j); got.State != Idle || got.Missed != 0 {
			t.Errorf("state %v, missed %d", got.State, got.Missed)
		}
	})
}

func TestMissingTargetIsKnownFromTheStart(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() { w.engine.missing[j.Target] = true })
		w.sleep(time.Hour)
		w.stop()
		w.start(Config{})
		if got := w.of(j).State; got != NoDrive {
			t.Errorf("state %v", got)
		}
		w.want("records", w.records(j), "01T11:00Z skipped schedule 11") // and not tried in vain
		w.engine.edit(func() { w.engine.missing[j.Target] = false })
		w.sleep(longestNap + 2*time.Minute)
		if got := w.last(j); got.Outcome != store.Done || got.Trigger != "catch-up" {
			t.Errorf("the due of before the restart: %+v", got)
		}
	})
}

func TestEmptyMountPointIsAMissingTarget(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.sleep(time.Hour)
		w.engine.edit(func() { w.engine.unowned[j.Target] = true })
		w.sleep(time.Hour)
		if got := w.last(j); got.Outcome != store.Skipped || got.Cause != CauseNoTarget {
			t.Errorf("got %+v", got)
		}
	})
}

func TestDriveLostDuringARun(t *testing.T) {
	for _, gone := range []bool{true, false} {
		inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
			j := w.job("Photos", "0 * * * *", "usb")
			w.engine.edit(func() { w.engine.report = func(engine.Mirror, *engine.Report) error { return engine.ErrLost } })
			w.sleep(30*time.Minute + 50*time.Second)
			w.engine.edit(func() { w.engine.missing[j.Target] = gone })
			w.sleep(5 * time.Minute)
			if got := w.last(j); got.Outcome != store.Failed || got.Cause != CauseLost {
				t.Errorf("got %+v", got)
			}
			want := map[bool]State{true: NoDrive, false: Failed}[gone]
			if got := w.of(j).State; got != want {
				t.Errorf("gone %v: state %v, want %v", gone, got, want)
			}
			if got := w.of(j).Board[11].Content; gone && got != string(engine.Writing) {
				t.Errorf("the board calls the hour %q, want writing", got)
			}
			w.engine.edit(func() { w.engine.missing[j.Target], w.engine.report = false, nil })
			w.sleep(5 * time.Minute)
			// One that never went away is tried at its next due, not again and again.
			if n := len(w.records(j)); n != map[bool]int{true: 2, false: 1}[gone] {
				t.Errorf("gone %v: %v", gone, w.records(j))
			}
		})
	}
}

func TestSourceMissing(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() { w.engine.report = func(engine.Mirror, *engine.Report) error { return engine.ErrNoSource } })
		w.sleep(time.Hour)
		if got := w.of(j); got.State != NoSource || got.Cause != CauseNoSource {
			t.Errorf("state %v, cause %q", got.State, got.Cause)
		}
	})
}
