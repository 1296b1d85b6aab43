package agent

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

func TestJobsShareDrivesOneAfterTheOther(t *testing.T) {
	for _, c := range []struct {
		name, one, other string
		most             int
	}{
		{"one drive", "usb", "usb", 1},
		{"two drives", "usb", "nas", 2},
		{"unknown drives may be the same", "", "nas", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
				one, other := w.job("One", "0 * * * *", c.one), w.job("Other", "0 * * * *", c.other)
				w.sleep(30*time.Minute + 30*time.Second)
				waiting := 0
				for _, js := range w.Status().Jobs {
					if js.State == Waiting && js.Reason != "" {
						waiting++
					}
				}
				if waiting != 2-c.most {
					t.Errorf("%d jobs wait: %+v", waiting, w.Status().Jobs)
				}
				w.sleep(5 * time.Minute)
				for _, j := range []store.Job{one, other} {
					w.want(j.Name, w.records(j), "01T11:00Z done schedule 11")
				}
				if w.engine.most != c.most {
					t.Errorf("%d runs at once, want %d", w.engine.most, c.most)
				}
			})
		})
	}
}

func TestStartByHand(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		id, err := w.Start("photos", -1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Start(j.ID, 3); !errors.Is(err, ErrBusy) {
			t.Errorf("a second run: %v, want ErrBusy", err)
		}
		got, err := w.Wait(w.t.Context(), id)
		if err != nil || got.Hour != 10 || !got.Due.IsZero() || got.Trigger != "hand" {
			t.Errorf("got %+v, %v", got, err)
		}
		if m := w.engine.orders()[0]; m.Profile != engine.ProfileNormal || m.RunID != id {
			t.Errorf("the engine was asked for %+v", m)
		}
		if _, err := w.Start(j.ID, 24); err == nil {
			t.Error("hour 24 was accepted")
		}
		if _, err := w.Start("Music", -1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("an unknown job: %v", err)
		}
		w.sleep(time.Hour) // a run by hand satisfies no schedule
		w.want("records", w.records(j), "by hand done hand 10", "01T11:00Z done schedule 11")
		if m := w.engine.orders()[1]; m.Profile != engine.ProfileGentle {
			t.Errorf("a scheduled run has profile %v, want gentle", m.Profile)
		}
	})
}

// TestProfileByWhoAsks: a run that nobody waits for is gentle, unless its job says
// otherwise.
func TestProfileByWhoAsks(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		for _, c := range []struct {
			trigger, job string
			want         engine.Profile
			word         string
		}{
			{triggerSchedule, "", engine.ProfileGentle, "gentle"},
			{triggerCatchUp, "", engine.ProfileGentle, "gentle"},
			{triggerHand, "", engine.ProfileNormal, "normal"},
			{triggerFill, "", engine.ProfileNormal, "normal"},
			{triggerApprove, "", engine.ProfileNormal, "normal"},
			{triggerSchedule, "full", engine.ProfileFull, "full"},
			{triggerHand, "gentle", engine.ProfileGentle, "gentle"},
		} {
			j, r := store.Job{Profile: c.job}, &request{trigger: c.trigger}
			m, err := w.mirrorOf(j, r)
			if word := profileOf(j, r); err != nil || m.Profile != c.want || word != c.word {
				t.Errorf("%s of a job with %q: %v %q, %v, want %v %q", c.trigger, c.job, m.Profile, word, err, c.want, c.word)
			}
		}
	})
}

func TestFillRecordsEachHour(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "", "usb")
		id, err := w.Fill(j.ID, []int{7, 3})
		if err != nil {
			t.Fatal(err)
		}
		w.sleep(time.Second)
		if got := w.of(j).Run; got == nil || len(got.Hours) != 2 {
			t.Errorf("at work: %+v", got)
		}
		if r, err := w.Wait(w.t.Context(), id+"-03"); err != nil || r.Outcome != store.Done || r.Hour != 3 {
			t.Errorf("run of the second hour: %+v, %v", r, err)
		}
		w.want("records", w.records(j), "by hand done fill 07", "by hand done fill 03")
		board := w.of(j).Board
		if board[7].SealedBy != id || board[3].SealedBy != id+"-03" || board[4].SealedBy != "" {
			t.Errorf("sealed by %q, %q", board[7].SealedBy, board[3].SealedBy)
		}
		if len(w.engine.orders()) != 1 {
			t.Errorf("%d readings of the source, want one", len(w.engine.orders()))
		}
		if _, err := w.Fill(j.ID, []int{1, 1}); err == nil {
			t.Error("an hour given twice was accepted")
		}
	})
}

func TestCancel(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		one, other := w.job("One", "", "usb"), w.job("Other", "", "usb")
		if err := w.Cancel(one.ID); !errors.Is(err, ErrNoRun) {
			t.Errorf("nothing to cancel: %v", err)
		}
		id, _ := w.Start("One", -1)
		w.sleep(time.Second)
		waits, _ := w.Start("Other", -1)
		w.sleep(time.Second)
		if err := w.Cancel(""); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{id, waits} {
			if r, err := w.Wait(w.t.Context(), id); err != nil || r.Outcome != store.Cancelled || r.Cause != CauseCancelled {
				t.Errorf("cancelled: %+v, %v", r, err)
			}
		}
		w.sleep(time.Hour)
		if len(w.engine.orders()) != 1 {
			t.Errorf("%d runs began, want one", len(w.engine.orders()))
		}
		if got := w.of(one).Board[10]; got.Content != string(engine.Mixed) {
			t.Errorf("the board calls a half-way hour %q", got.Content)
		}
		if got := w.of(other).State; got != Never {
			t.Errorf("the other job: %v", got)
		}
	})
}

func TestStopRecordsAndTheNextStartGoesOn(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		other := w.job("Other", "", "usb")
		w.sleep(30*time.Minute + 10*time.Second)
		waits, err := w.Start(other.ID, -1)
		if err != nil {
			t.Fatal(err)
		}
		w.stop()
		if _, err := w.Start(j.ID, -1); !errors.Is(err, ErrStopped) {
			t.Errorf("start while stopped: %v", err)
		}
		w.start(Config{})
		if r, err := w.Wait(w.t.Context(), waits); err != nil || r.Outcome != store.Cancelled {
			t.Errorf("what waited: %+v, %v", r, err)
		}
		w.sleep(2 * time.Minute)
		w.want("records", w.records(j), "01T11:00Z interrupted schedule 11", "01T11:00Z done catch-up 11")
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "", "usb")
		id, _ := w.Start(j.ID, -1)
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		if _, err := w.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := w.Wait(ctx, "no-such-run"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("an unknown run: %v", err)
		}
	})
}

func TestVerifyRecordsWhatItFinds(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		if _, err := w.Verify(j.ID, nil, false); err == nil {
			t.Error("a job without copies was verified")
		}
		w.sleep(time.Hour)
		id, err := w.Verify(j.ID, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		w.sleep(time.Second)
		if got := w.of(j); got.State != Verifying || !got.Run.Verify {
			t.Errorf("state %v, run %+v", got.State, got.Run)
		}
		copied := w.of(j).Board[11].LastRun
		good, err := w.Wait(w.t.Context(), id)
		if err != nil || good.Outcome != store.Done || good.Hour != 11 || good.Trigger != "verify" || good.Unchanged.Files != 1 {
			t.Errorf("got %+v, %v", good, err)
		}
		if got := w.of(j).Board[11]; got.LastRun != copied || got.Outcome != store.Done {
			t.Errorf("a good verification stands for the hour's copy: %+v", got)
		}

		w.engine.edit(func() {
			w.engine.audit = func(h engine.Hour) (engine.Audit, error) {
				return engine.Audit{Dest: h.Dest, Rot: 2, FoundCount: 2, Found: []engine.Found{{Path: "a", Finding: engine.FindingRot}}}, engine.ErrMismatch
			}
		})
		id, _ = w.Verify(j.ID, []int{11}, true)
		bad, err := w.Wait(w.t.Context(), id)
		if err != nil || bad.Outcome != store.Failed || bad.Cause != CauseMismatch || bad.ProblemCount != 2 {
			t.Errorf("got %+v, %v", bad, err)
		}
		if got := w.of(j); got.State != Failed || got.Board[11].Outcome != store.Failed || got.Board[11].LastRun != id {
			t.Errorf("rot is not shown: %v, %+v", got.State, got.Board[11])
		}
		w.engine.edit(func() { w.engine.audit, w.engine.missing[j.Target] = nil, true })
		id2, _ := w.Verify(j.ID, []int{11}, true)
		if gone, err := w.Wait(w.t.Context(), id2); err != nil || gone.Cause != CauseNoTarget || w.of(j).State != NoDrive {
			t.Errorf("without drive: %+v, %v, state %v", gone, err, w.of(j).State)
		}
		if p, err := w.config.Store.Problems(id); err != nil || len(p) != 1 || p[0].Path != "a" {
			t.Errorf("problems %v, %v", p, err)
		}
	})
}

func TestNothingBeginsWithoutARecord(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "", "usb")
		id, err := w.Start(j.ID, -1)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.config.Store.Close(); err != nil { // a full disk, say
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := w.Wait(w.t.Context(), id); err == nil || len(w.engine.orders()) != 0 {
			t.Errorf("err %v, %d runs began", err, len(w.engine.orders()))
		}
		if got := w.of(j); got.State != Failed || got.Reason == "" {
			t.Errorf("state %v, reason %q", got.State, got.Reason)
		}
	})
}
