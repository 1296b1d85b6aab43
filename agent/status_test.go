package agent

import (
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

func TestStateOfAJob(t *testing.T) {
	copying, paused := &RunStatus{}, &RunStatus{Progress: engine.Progress{Paused: true}}
	ended := func(outcome, cause string) *store.Run { return &store.Run{Outcome: outcome, Cause: cause} }
	for _, c := range []struct {
		name string
		facts
		want State
	}{
		{"nothing yet", facts{}, Never},
		{"all well", facts{sealed: true, last: ended(store.Done, "")}, Idle},
		{"copying", facts{run: copying, sealed: true}, Running},
		{"copying after a failure", facts{run: copying, last: ended(store.Failed, "")}, Running},
		{"reading back", facts{run: &RunStatus{Verify: true}}, Verifying},
		{"asked to pause", facts{run: copying, paused: true}, Pausing},
		{"paused in a file", facts{run: paused, paused: true}, Paused},
		{"resumed, not yet confirmed", facts{run: paused}, Running},
		{"paused without a run", facts{paused: true, sealed: true}, Paused},
		{"paused, failed before", facts{paused: true, last: ended(store.Failed, "")}, Failed},
		{"waits for another", facts{waits: true, blocker: "Music"}, Waiting},
		{"waits for its turn", facts{waits: true}, Waiting},
		{"waits in a pause", facts{waits: true, paused: true, sealed: true}, Paused},
		{"drive missing", facts{absent: true, sealed: true, last: ended(store.Done, "")}, NoDrive},
		{"drive missing after a failure", facts{absent: true, last: ended(store.Failed, CauseLost)}, NoDrive},
		{"no record", facts{trouble: "disk full", absent: true}, Failed},
		{"source missing", facts{last: ended(store.Failed, CauseNoSource)}, NoSource},
		{"failed", facts{sealed: true, last: ended(store.Failed, CauseFull)}, Failed},
		{"some files", facts{sealed: true, last: ended(store.Partial, CauseFiles)}, Partial},
		{"held", facts{sealed: true, last: ended(store.Held, CauseHeld)}, Held},
		{"cancelled", facts{sealed: true, last: ended(store.Cancelled, "")}, Idle},
		{"cancelled the first time", facts{last: ended(store.Cancelled, "")}, Never},
		{"interrupted", facts{sealed: true, last: ended(store.Interrupted, "")}, Idle},
	} {
		if got, reason, _ := c.state(); got != c.want || (got == Waiting || got == NoDrive) && reason == "" {
			t.Errorf("%s: %v %q, want %v", c.name, got, reason, c.want)
		}
	}
}

func TestWorstJobDecides(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		if got := w.Status().State; got != Idle {
			t.Errorf("no jobs: %v", got)
		}
		w.job("Beta", "0 * * * *", "usb")
		bad := w.job("alpha", "30 * * * *", "nas")
		if got := w.Status(); got.State != Never || !got.Next.Equal(date(t, "UTC", "2026-06-01 11:00")) || got.Jobs[0].Job.Name != "alpha" {
			t.Errorf("state %v, next %v, first %q", got.State, got.Next, got.Jobs[0].Job.Name)
		}
		w.engine.edit(func() {
			w.engine.report = func(m engine.Mirror, _ *engine.Report) error {
				if m.Owner.JobID == bad.ID {
					return engine.ErrNoSpace
				}
				return nil
			}
		})
		w.sleep(time.Hour + 30*time.Second) // 11:30: alpha is at work
		if got := w.Status().State; got != Running {
			t.Errorf("one at work, one well: %v", got)
		}
		w.sleep(30 * time.Minute) // 12:00: alpha has failed, Beta is at work
		got := w.Status()
		if got.State != Failed || got.Jobs[0].Cause != CauseFull || got.Jobs[1].State != Running {
			t.Errorf("state %v, jobs %v %v", got.State, got.Jobs[0].State, got.Jobs[1].State)
		}
		if want := date(t, "UTC", "2026-06-01 11:01"); got.Newest.Sub(want).Abs() > time.Second || got.Jobs[1].NewestHour != 11 {
			t.Errorf("newest %v of hour %d, want %v", got.Newest, got.Jobs[1].NewestHour, want)
		}
	})
}
