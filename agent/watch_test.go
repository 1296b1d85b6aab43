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
