package agent

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourhand/hourhand/store"
)

func TestPauseHoldsARunAndSkipsDues(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() { w.engine.takes = 10 * time.Minute })
		w.sleep(35 * time.Minute) // 11:05
		if err := w.Pause(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if got := w.of(j).State; got != Pausing {
			t.Errorf("at once: %v, want pausing", got)
		}
		w.sleep(time.Second)
		if got := w.of(j).State; got != Paused || w.Status().State != Paused {
			t.Errorf("after a second: %v, whole %v, want paused", got, w.Status().State)
		}
		if _, err := w.Start(j.ID, -1); !errors.Is(err, ErrPaused) {
			t.Errorf("a run by hand during a pause: %v, want ErrPaused", err)
		}
		w.sleep(2*time.Hour + 20*time.Minute) // 13:25
		if got := w.of(j).Missed; got != 2 {
			t.Errorf("%d dues missed so far, want 2", got)
		}
		if err := w.Resume(); err != nil {
			t.Fatal(err)
		}
		w.sleep(30 * time.Minute)
		w.want("records", w.records(j), "01T11:00Z done schedule 11", "01T12:00Z skipped schedule 12",
			"01T13:00Z skipped schedule 13", "01T13:00Z done catch-up 13")
		if got := w.of(j); got.Missed != 0 || got.State != Idle || got.Last.Outcome != store.Done {
			t.Errorf("at the end: %v, %d missed, last %v", got.State, got.Missed, got.Last.Outcome)
		}
	})
}

// TestPauseClosesTheGateFirst: what is at work stops before the pause is written
// down, and by the call itself. The store is held up here for as long as the test
// likes, and no loop runs that could look at anything later.
func TestPauseClosesTheGateFirst(t *testing.T) {
	s, err := store.Open(store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := New(Config{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	r := &request{}
	a.working = append(a.working, r)
	for _, c := range []struct {
		name   string
		order  func() error
		closed bool
	}{
		{"pause", func() error { return a.Pause(time.Time{}) }, true},
		{"resume", a.Resume, false},
	} {
		a.keep.Lock()
		given := make(chan error, 1)
		go func() { given <- c.order() }()
		for end := time.Now().Add(10 * time.Second); r.gate.Paused() != c.closed; runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatalf("%s: the gate does not move while the store is held up", c.name)
			}
		}
		if len(given) > 0 {
			t.Errorf("%s did not wait for the store", c.name)
		}
		a.keep.Unlock()
		if err := <-given; err != nil {
			t.Fatal(err)
		}
	}
}

func TestPauseEndsByItself(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		if err := w.Pause(w.clock().Add(45 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		w.sleep(44 * time.Minute)
		w.want("paused", w.records(j), "01T11:00Z skipped schedule 11")
		w.sleep(time.Minute + time.Second)
		if got := w.of(j).State; got != Running || w.Status().Pause.On {
			t.Errorf("when the pause is over: %v, pause %+v", got, w.Status().Pause)
		}
	})
}

func TestPauseSurvivesARestart(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		if err := w.Pause(w.clock().Add(2 * time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.stop()
		w.sleep(time.Hour) // 11:30
		w.start(Config{})
		if got := w.Status(); got.State != Paused || !got.Pause.Until.Equal(date(t, "UTC", "2026-06-01 12:30")) {
			t.Errorf("after a restart: %v, %+v", got.State, got.Pause)
		}
		w.want("records", w.records(j), "01T11:00Z skipped schedule 11")
		w.stop()
		w.sleep(2 * time.Hour) // 13:30: the pause is over
		w.start(Config{})
		w.sleep(2 * time.Minute)
		w.want("records", w.records(j), "01T11:00Z skipped schedule 11", "01T12:00Z missed schedule 12", "01T13:00Z done catch-up 13")
	})
}

func TestPauseSkipsADueThatWaits(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() { w.engine.takes = 90 * time.Minute }) // 11:00 to 12:30
		w.sleep(100 * time.Minute)                                  // 12:10: 12:00 waits
		if err := w.Pause(time.Time{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.want("records", w.records(j), "01T11:00Z running schedule 11", "01T12:00Z skipped schedule 12")
		if err := w.Resume(); err != nil {
			t.Fatal(err)
		}
		w.sleep(25 * time.Minute)
		w.want("records", w.records(j), "01T11:00Z done schedule 11", "01T12:00Z skipped schedule 12", "01T12:00Z running catch-up 12")
	})
}

func TestPauseLastsAsLongAsItWasMeantTo(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		pause := func() {
			if err := w.Pause(w.clock().Add(30 * time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		pause()
		w.jump(-10 * 365 * 24 * time.Hour)
		w.sleep(31 * time.Minute)
		if w.Status().Pause.On {
			t.Error("a clock set back by ten years makes a pause of ten years")
		}
		pause()
		w.stop()
		w.step.Add(-int64(24 * time.Hour))
		w.start(Config{})
		w.sleep(31 * time.Minute)
		if w.Status().Pause.On {
			t.Error("the same across a restart")
		}
	})
}

func TestPauseIntoThePastIsRefused(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		if err := w.Pause(w.clock()); err == nil || w.Status().Pause.On {
			t.Errorf("err %v, pause %+v", err, w.Status().Pause)
		}
		if err := w.Resume(); err != nil {
			t.Errorf("resume without a pause: %v", err)
		}
	})
}
