package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/store"
)

func date(t *testing.T, where, text string) time.Time {
	t.Helper()
	d, err := time.ParseInLocation("2006-01-02 15:04", text, zone(t, where))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDuesRunIntoTheirLocalHour(t *testing.T) {
	for _, c := range []struct {
		name, where, begin, schedule string
		want                         []string
	}{
		{"an ordinary night", "Europe/Berlin", "2026-02-01 22:30", "0 * * * *",
			[]string{"01T23:00+0100 23", "02T00:00+0100 00", "02T01:00+0100 01", "02T02:00+0100 02", "02T03:00+0100 03"}},
		{"clocks go forward: 02 keeps what it holds", "Europe/Berlin", "2026-03-29 00:30", "0 * * * *",
			[]string{"29T01:00+0100 01", "29T03:00+0200 03", "29T04:00+0200 04", "29T05:00+0200 05", "29T06:00+0200 06"}},
		{"clocks go back: 02 runs twice", "Europe/Berlin", "2026-10-25 00:30", "0 * * * *",
			[]string{"25T01:00+0200 01", "25T02:00+0200 02", "25T02:00+0100 02", "25T03:00+0100 03", "25T04:00+0100 04"}},
		{"half an hour forward", "Australia/Lord_Howe", "2026-10-04 00:30", "0 * * * *",
			[]string{"04T01:00+1030 01", "04T03:00+1100 03", "04T04:00+1100 04", "04T05:00+1100 05", "04T06:00+1100 06"}},
		{"half an hour back", "Australia/Lord_Howe", "2026-04-05 00:30", "30 * * * *",
			[]string{"05T01:30+1100 01", "05T01:30+1030 01", "05T02:30+1030 02", "05T03:30+1030 03", "05T04:30+1030 04"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, date(t, c.where, c.begin), func(w *world) {
				w.job("Photos", c.schedule, "usb")
				w.sleep(5 * time.Hour)
				w.want("runs", w.engine.dues(w.zone), c.want...)
			})
		})
	}
}

func TestTicksComeOnTime(t *testing.T) {
	inWorld(t, date(t, "Europe/Berlin", "2026-06-01 10:59"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.sleep(time.Minute + 10*time.Millisecond)
		if got := w.of(j); got.State != Running || got.Run.Trigger != "schedule" {
			t.Errorf("state 10 ms after the due: %v, run %+v", got.State, got.Run)
		}
	})
}

func TestSleepingMachineCatchesUpTheNewestDue(t *testing.T) {
	inWorld(t, date(t, "Europe/Berlin", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.jump(4*time.Hour + 20*time.Minute)
		w.sleep(2 * time.Minute)
		w.want("records", w.records(j),
			"01T11:00+0200 missed schedule 11",
			"01T12:00+0200 missed schedule 12",
			"01T13:00+0200 missed schedule 13",
			"01T14:00+0200 done catch-up 14")
		if got := w.of(j).Board[12].Outcome; got != store.Missed {
			t.Errorf("the board says of hour 12: %q", got)
		}
	})
}

func TestTenYearsForwardIsOneRun(t *testing.T) {
	inWorld(t, date(t, "Europe/Berlin", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "* * * * *", "usb")
		w.jump(10 * 365 * 24 * time.Hour)
		w.sleep(100 * time.Millisecond)
		if got := w.engine.dues(w.zone); len(got) != 1 {
			t.Errorf("runs: %v, want one", got)
		}
		records := w.records(j)
		if len(records) != maxMissed+1 {
			t.Errorf("%d records for the gap, want %d", len(records), maxMissed+1)
		}
		var oldest store.Run
		for r := range w.config.Store.Runs(j.ID) {
			oldest = r
		}
		if !strings.Contains(oldest.Reason, "at least 1000 dues before this one") {
			t.Errorf("the oldest record does not count the rest: %q", oldest.Reason)
		}
	})
}

func TestClockSetBackRunsNoDueTwice(t *testing.T) {
	inWorld(t, date(t, "Europe/Berlin", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.sleep(3 * time.Hour) // 11, 12, 13
		w.jump(-2 * time.Hour) // 11:30
		w.sleep(3 * time.Hour) // 12 and 13 are recorded, 14 is new
		w.want("records", w.records(j),
			"01T11:00+0200 done schedule 11", "01T12:00+0200 done schedule 12",
			"01T13:00+0200 done schedule 13", "01T14:00+0200 done schedule 14")
	})
}

func TestClockSetBackWhileADueWaits(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		w.job("Music", "58 10 * * *", "usb")
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() { w.engine.takes = 2 * time.Hour })
		w.sleep(40 * time.Minute) // 11:10: Photos waits for Music
		w.jump(-20 * time.Minute)
		w.sleep(15 * time.Minute) // 11:05 again
		w.want("records", w.records(j))
		w.sleep(2 * time.Hour)
		if got := w.engine.dues(w.zone); len(got) != 2 {
			t.Errorf("runs %v, want one of each job", got)
		}
	})
}

func TestTenYearsBackGoesOnEachHour(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		w.job("Photos", "0 * * * *", "usb")
		w.sleep(time.Hour)
		w.jump(-10 * 365 * 24 * time.Hour)
		w.sleep(2 * time.Hour)
		w.want("runs", w.engine.dues(w.zone), "01T11:00Z 11", "03T12:00Z 12", "03T13:00Z 13")

		w.stop() // also across a restart, with dues recorded that are years away
		w.start(Config{})
		w.sleep(time.Hour)
		w.want("runs", w.engine.dues(w.zone), "01T11:00Z 11", "03T12:00Z 12", "03T13:00Z 13", "03T14:00Z 14")
	})
}

func TestLongRunLetsOneDueWait(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() { w.engine.takes = 3*time.Hour + 10*time.Minute }) // from 11:00 to 14:10
		w.sleep(3*time.Hour + 35*time.Minute)                                   // 14:05
		w.want("records at 14:05", w.records(j),
			"01T11:00Z running schedule 11", "01T12:00Z missed schedule 12", "01T13:00Z missed schedule 13")
		w.engine.edit(func() { w.engine.takes = time.Minute })
		w.sleep(10 * time.Minute)
		w.want("runs at 14:15", w.engine.dues(w.zone), "01T11:00Z 11", "01T14:00Z 14")
		if got := w.last(j); got.Trigger != "schedule" || got.Outcome != store.Done {
			t.Errorf("the due that waited: %+v", got)
		}
		if w.engine.most != 1 {
			t.Errorf("%d runs of one job at once", w.engine.most)
		}
	})
}

func TestDowntimeIsCaughtUp(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.sleep(time.Hour)
		w.stop()
		w.sleep(3 * time.Hour) // 14:30
		w.start(Config{})
		w.sleep(2 * time.Minute)
		w.want("records", w.records(j), "01T11:00Z done schedule 11", "01T12:00Z missed schedule 12",
			"01T13:00Z missed schedule 13", "01T14:00Z done catch-up 14")
	})
}

func TestEarlierDuesDoNotCount(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		restart := func() { w.stop(); w.start(Config{}) }
		save := func() {
			t.Helper()
			if _, _, err := w.SaveJob(j); err != nil {
				t.Fatal(err)
			}
			restart()
		}
		restart()
		w.want("a new job's records", w.records(j))
		w.sleep(time.Hour) // 11:30
		j.Schedule = "*/10 * * * *"
		save()
		w.want("after a new schedule", w.records(j), "01T11:00Z done schedule 11")
		j.Disabled = true
		save()
		w.sleep(time.Hour) // 12:30
		j.Disabled = false
		save()
		w.sleep(time.Minute)
		w.want("after it was switched off for a while", w.records(j), "01T11:00Z done schedule 11")
	})
}

func TestByHandHasNoSchedule(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.stop()
		w.start(Config{ByHand: true})
		w.sleep(3 * time.Hour)
		w.want("records", w.records(j))
		id, err := w.Start("photos", -1)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := w.Wait(w.t.Context(), id); err != nil || r.Outcome != store.Done || r.Hour != 13 {
			t.Errorf("run by hand: %+v, %v", r, err)
		}
		if next := w.of(j).Next; !next.IsZero() {
			t.Errorf("next due %v", next)
		}
	})
}

// Thirteen months (what is older is trimmed) on a machine that sleeps most of the
// time, with both clock changes and a clock that is set back now and then: each
// due has exactly one run or record.
func TestYearOfDues(t *testing.T) {
	for _, where := range []string{"Europe/Berlin", "Australia/Lord_Howe"} {
		t.Run(where, func(t *testing.T) {
			inWorld(t, date(t, where, "2026-02-01 00:30"), func(w *world) {
				j := w.job("Photos", "30 1,2 * * *", "usb")
				w.engine.edit(func() { w.engine.takes = 0 })
				begin := w.clock()
				for step := 0; w.clock().Before(begin.AddDate(0, 13, 0)); step++ {
					switch {
					case step%1931 == 1500:
						w.jump(31 * time.Hour)
					case step%2539 == 2000:
						w.jump(-3 * time.Hour)
					}
					w.jump(13*time.Minute - longestNap)
				}
				w.onceEach(j, begin)
			})
		})
	}
}

// onceEach checks that each due since begin, and nothing else, has one record.
func (w *world) onceEach(j store.Job, begin time.Time) {
	w.t.Helper()
	seen := map[time.Time]int{}
	for r := range w.config.Store.Runs(j.ID) {
		seen[r.Due.UTC()]++
	}
	s := schedule(w.t, j.Schedule)
	for due := s.Next(begin); !due.After(w.clock()); due = s.Next(due) {
		if n := seen[due.UTC()]; n != 1 {
			w.t.Errorf("due %v has %d records", due, n)
		}
		delete(seen, due.UTC())
	}
	if len(seen) > 0 {
		w.t.Errorf("records for what was never due: %v", seen)
	}
}
