package agent

import (
	"context"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
)

func TestWatchYieldsTheLatest(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "", "usb")
		ctx, cancel := context.WithCancel(w.t.Context())
		var states []State
		ended := make(chan bool)
		go func() {
			defer close(ended)
			for s := range w.Watch(ctx) {
				states = append(states, s.Jobs[0].State)
				time.Sleep(40 * time.Second) // far slower than progress
			}
		}()
		if _, err := w.Start(j.ID, -1); err != nil {
			t.Fatal(err)
		}
		w.sleep(5 * time.Minute)
		cancel()
		<-ended
		if len(states) > 4 || states[len(states)-1] != Idle {
			t.Errorf("a slow reader saw %v; the last must be idle", states)
		}
	})
}

func TestProgressWaitsForNobody(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		w.job("Photos", "", "usb")
		stuck := make(chan bool)
		defer close(stuck)
		go w.Watch(w.t.Context())(func(Status) bool { return <-stuck })
		r := &request{}
		begin := time.Now()
		for i := range 1000 {
			w.progress(r, engine.Progress{CopyDone: int64(i)})
		}
		if took := time.Since(begin); took > 0 { // the bubble's time stands still unless someone waits
			t.Errorf("progress waited %v", took)
		}
	})
}

func TestSpeedsOfTheLastMinute(t *testing.T) {
	var s speedometer
	begin := time.Now()
	var got []float64
	for i := range 8 { // 2 seconds, four snapshots each
		got = s.add(begin.Add(time.Duration(i)*250*time.Millisecond), int64(i)*1000)
	}
	if len(got) != 1 || got[0] != 4000 {
		t.Errorf("after almost 2 s: %v, want one of 4000", got)
	}
	earlier := got
	got = s.add(begin.Add(4*time.Second), 4000) // nothing for 3 seconds
	if len(got) != 4 || got[3] != 0 {
		t.Errorf("after a stall: %v", got)
	}
	for i := range 200 {
		got = s.add(begin.Add(time.Duration(5+i)*time.Second), 4000+int64(i))
	}
	if len(got) != shownSpeeds || got[0] != 1 {
		t.Errorf("%d speeds, first %v", len(got), got[0])
	}
	if len(earlier) != 1 || earlier[0] != 4000 {
		t.Errorf("an earlier snapshot changed: %v", earlier)
	}
}
