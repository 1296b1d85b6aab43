package agent

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// holdUnless makes the engine hold a plan until it is approved.
func (p *play) holdUnless(plan *engine.Plan) {
	p.edit(func() {
		p.report = func(m engine.Mirror, rep *engine.Report) error {
			if m.Plan == plan.ID {
				return nil
			}
			rep.Outcome, rep.Plan = engine.Held, plan
			return fmt.Errorf("%w: %s", engine.ErrHeld, plan.Reason)
		}
	})
}

func TestApproveStartsTheSameHourAgain(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		if _, err := w.Approve(j.ID, ""); !errors.Is(err, ErrNotHeld) {
			t.Errorf("nothing is held: %v", err)
		}
		w.engine.holdUnless(&engine.Plan{ID: "p1", Reason: "70 of 100 files would be removed"})
		w.sleep(45 * time.Minute) // 11:15
		if got := w.of(j); got.State != Held || got.Plan == nil || got.Plan.ID != "p1" || got.Reason == "" || got.Cause != CauseHeld {
			t.Errorf("held: %v %q %q, plan %+v", got.State, got.Reason, got.Cause, got.Plan)
		}
		if _, err := w.Approve(j.ID, "p0"); !errors.Is(err, ErrOtherPlan) {
			t.Errorf("another plan: %v", err)
		}
		w.sleep(50 * time.Minute) // 12:05, held again
		id, err := w.Approve(j.ID, "p1")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := w.Wait(w.t.Context(), id); err != nil || r.Outcome != store.Done || r.Hour != 12 || r.Trigger != "approve" {
			t.Errorf("approved: %+v, %v", r, err)
		}
		if got := w.of(j); got.State != Idle || got.Plan != nil {
			t.Errorf("after it: %v, plan %+v", got.State, got.Plan)
		}
		w.sleep(time.Hour) // a seal uses the approval up
		if got := w.of(j); got.State != Held {
			t.Errorf("the same list an hour later: %v, want held", got.State)
		}
	})
}

func TestApprovalServesUntilASeal(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.holdUnless(&engine.Plan{ID: "p1"})
		w.sleep(45 * time.Minute)
		id, err := w.Approve(j.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		w.sleep(time.Second)
		if err := w.Cancel(j.ID); err != nil {
			t.Fatal(err)
		}
		if r, _ := w.Wait(w.t.Context(), id); r.Outcome != store.Cancelled {
			t.Errorf("cancelled: %+v", r)
		}
		w.sleep(50 * time.Minute) // 12:05: the next hour has the approval
		if got := w.of(j); got.State != Idle || got.Board[12].Content != string(engine.Sealed) {
			t.Errorf("the next hour: %v %+v", got.State, got.Board[12])
		}
	})
}

func TestAnotherHeldListEndsAnApproval(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.holdUnless(&engine.Plan{ID: "p1"})
		w.sleep(45 * time.Minute)
		w.engine.holdUnless(&engine.Plan{ID: "p2"}) // more was removed meanwhile
		if _, err := w.Approve(j.ID, ""); err != nil {
			t.Fatal(err)
		}
		w.sleep(2 * time.Minute)
		if got := w.of(j); got.State != Held || got.Plan.ID != "p2" {
			t.Errorf("state %v, plan %+v", got.State, got.Plan)
		}
		w.engine.holdUnless(&engine.Plan{ID: "p1"})
		w.sleep(50 * time.Minute)
		if got := w.of(j); got.State != Held {
			t.Errorf("the first list again: %v, want held", got.State)
		}
	})
}

func TestApproveAnotherDrive(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() {
			marked := w.engine.remarks
			w.engine.report = func(_ engine.Mirror, rep *engine.Report) error {
				if w.engine.remarks == marked {
					rep.Outcome = engine.Held
					return engine.ErrVolume
				}
				return nil
			}
		})
		w.sleep(45 * time.Minute)
		if got := w.of(j); got.State != Held || got.Cause != CauseVolume {
			t.Errorf("state %v, cause %v", got.State, got.Cause)
		}
		id, err := w.Approve(j.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := w.Wait(w.t.Context(), id); err != nil || r.Outcome != store.Done || r.Hour != 11 {
			t.Errorf("approved: %+v, %v", r, err)
		}
		if w.engine.orders()[1].Yes {
			t.Error("approving a drive let all guards pass")
		}
	})
}
