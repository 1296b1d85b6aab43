package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
)

func TestSpeedsOfTheLastMinute(t *testing.T) {
	var m minute
	begin := time.Now()
	var got []float64
	add := func(after time.Duration, copied int64) {
		got, _ = m.add(begin.Add(after), engine.Progress{CopyDone: copied})
	}
	for i := range 8 { // 2 seconds, four snapshots each
		add(time.Duration(i)*250*time.Millisecond, int64(i)*1000)
	}
	if len(got) != 1 || got[0] != 4000 {
		t.Errorf("after almost 2 s: %v, want one of 4000", got)
	}
	earlier := got
	add(4*time.Second, 4000) // nothing for 3 seconds
	if len(got) != 4 || got[3] != 0 {
		t.Errorf("after a stall: %v", got)
	}
	for i := range 200 {
		add(time.Duration(5+i)*time.Second, 4000+int64(i))
	}
	if len(got) != shownSpeeds || got[0] != 1 {
		t.Errorf("%d speeds, first %v", len(got), got[0])
	}
	if len(earlier) != 1 || earlier[0] != 4000 {
		t.Errorf("an earlier snapshot changed: %v", earlier)
	}
}

func TestSharesStandBesideTheSpeeds(t *testing.T) {
	var m minute
	begin := time.Now()
	var speeds, shares []float64
	for i, p := range []engine.Progress{
		{}, // no governor
		{Pace: engine.Pace{Share: 1}},
		{Pace: engine.Pace{Share: 0.5}},
		{Pace: engine.Pace{Share: 0.25}},
		{Pace: engine.Pace{Share: 0.25}}, // a second is full
		{Pace: engine.Pace{Share: 0.1}, Paused: true},
		{Paused: true},
		{Paused: true},
		{Paused: true}, // another one
	} {
		speeds, shares = m.add(begin.Add(time.Duration(i)*250*time.Millisecond), p)
	}
	if want := []float64{(1 + 1 + 0.5 + 0.25 + 0.25) / 5, 1}; !slices.Equal(shares, want) || len(speeds) != len(shares) {
		t.Errorf("got %v beside %d speeds, want %v", shares, len(speeds), want)
	}
}

func TestGivesWay(t *testing.T) {
	for share, want := range map[float64]bool{0: false, 0.05: true, 0.89: true, 0.9: false, 1: false} {
		if got := GivesWay(share); got != want {
			t.Errorf("a share of %v: got %v, want %v", share, got, want)
		}
	}
}

func TestNoteOfHowARunGaveWay(t *testing.T) {
	const backup = "others, who read 48 MB/s from the source's drive"
	type step struct {
		after time.Duration // the one before
		pace  engine.Pace
	}
	half, tenth := engine.Pace{Share: 0.5, Yielded: "a build"}, engine.Pace{Share: 0.1, Yielded: backup}
	quick := 250 * time.Millisecond
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"no governor", []step{{}, {time.Second, engine.Pace{}}, {time.Second, engine.Pace{}}}, ""},
		{"by a hair", []step{{}, {time.Second, engine.Pace{Share: 0.95}}, {time.Second, engine.Pace{Share: 0.95}}}, ""},
		{"for a blink", []step{{}, {quick, half}, {quick, half}, {quick, half}, {quick, engine.Pace{Share: 1}}}, ""},
		{"the worst is told", []step{{}, {time.Second, half}, {time.Second, tenth}, {time.Second, half}},
			"gave way for 3s to " + backup + "; when it took least, that was 10% of what it could"},
		{"silence is no time", []step{{}, {time.Second, half}, {time.Hour, half}}, "gave way for 2s to a build;"},
		{"to nobody known", []step{{}, {time.Second, engine.Pace{Share: 0.5}}}, "gave way for 1s to other programs;"},
	} {
		var m manner
		now := time.Now()
		for _, s := range c.steps {
			now = now.Add(s.after)
			m.add(now, engine.Progress{Pace: s.pace})
		}
		if got := strings.Join(m.note(), " "); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestGivingWayIsShownAndRecorded on its way from the engine to the status, and
// to the record of what gave way: of a copy and of a verification, each its own.
func TestGivingWayIsShownAndRecorded(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "", "usb")
		w.engine.edit(func() { w.engine.pace = engine.Pace{Share: 0.4, Yielded: "a build"} })
		notes := func(id string, err error) []string {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			w.sleep(30 * time.Second)
			run := w.of(j).Run
			if run == nil || run.Progress.Pace.Yielded != "a build" || len(run.Shares) != len(run.Speeds) || !slices.Contains(run.Shares, 0.4) {
				t.Fatalf("at work: %+v", run)
			}
			r, err := w.Wait(w.t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return r.Notes
		}
		copied := notes(w.Start(j.ID, 9))
		w.want("notes of the copy", copied, "gave way for 1m0s to a build; when it took least, that was 40% of what it could")
		verified := notes(w.Verify(j.ID, []int{9}, false))
		w.want("notes of the verification", verified, copied...)
		w.engine.edit(func() { w.engine.pace = engine.Pace{} })
		id, err := w.Start(j.ID, 9)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := w.Wait(w.t.Context(), id); err != nil || len(r.Notes) != 0 {
			t.Errorf("without a governor: %v, %v, want no note", r.Notes, err)
		}
	})
}
