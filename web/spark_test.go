package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/agent"
)

// TestBandsStandWhereItGaveWay: seconds on end are one band, the newest second is
// at the right edge, and what a person would not notice is none.
func TestBandsStandWhereItGaveWay(t *testing.T) {
	for _, c := range []struct {
		name   string
		shares []float64
		bands  string
		brims  string
	}{
		{"none known", nil, "", ""},
		{"to nobody", []float64{1, 0.95, 1}, "", ""},
		{"without a governor", []float64{0, 0}, "", ""},
		{"now", []float64{1, 0.5}, "M297.5 0H300.0V56H297.5Z", "M297.5 1.5H300.0"},
		{"for a minute", slices.Repeat([]float64{0.3}, sparkValues), "M0.0 0H300.0V56H0.0Z", "M0.0 1.5H300.0"},
		{"twice", []float64{0.5, 0.2, 1, 0.8, 1}, "M277.1 0H287.3V56H277.1ZM292.4 0H297.5V56H292.4Z", "M277.1 1.5H287.3M292.4 1.5H297.5"},
	} {
		if bands, brims := sparkBands(c.shares); bands != c.bands || brims != c.brims {
			t.Errorf("%s: got %q under %q, want %q under %q", c.name, bands, brims, c.bands, c.brims)
		}
	}
}

// TestLimitLine is drawn where it says something: at the height of its speed.
func TestLimitLine(t *testing.T) {
	for _, c := range []struct {
		limit int64
		want  string
	}{
		{0, ""},
		{50e6, "M0 7.0H300"}, // the speed is at the limit
		{25e6, "M0 31.0H300"},
		{80e6, "M0 7.0H300"}, // the limit is the top
		{200e6, ""},          // the speed would lie at the bottom
	} {
		if got := sparkOf(agent.RunStatus{Speeds: []float64{10e6, 50e6}, Limit: c.limit}).Limit; got != c.want {
			t.Errorf("limit %d: got %q, want %q", c.limit, got, c.want)
		}
	}
}

// TestGivingWayInWords, for eyes and for screen readers.
func TestGivingWayInWords(t *testing.T) {
	now := *yielding(working(photos(), 0.45)).Run
	past := now
	past.Progress.Pace.Share, past.Progress.Pace.Yielded = 1, ""
	unknown := now
	unknown.Progress.Pace.Yielded = ""
	paused := now
	paused.Progress.Paused = true
	hostile := now
	hostile.Progress.Pace.Yielded = "a\u202eb"
	free := *working(photos(), 0.45).Run
	for _, c := range []struct {
		name      string
		run       agent.RunStatus
		say, pace string
	}{
		{"now", now, "Gives way to others, who read 48 MB/s from the source's drive. It takes 40% of what it could.", "Gentle pace, at most 140" + hardSpace + "MB/s."},
		{"just now", past, "Gave way to others for 22 seconds of the last minute.", "Gentle pace, at most 140" + hardSpace + "MB/s."},
		{"to whom is not known", unknown, "Gives way to other programs. It takes 40% of what it could.", "Gentle pace, at most 140" + hardSpace + "MB/s."},
		{"paused", paused, "", "Gentle pace, at most 140" + hardSpace + "MB/s."},
		{"hostile", hostile, `Gives way to a\u202eb. It takes 40% of what it could.`, "Gentle pace, at most 140" + hardSpace + "MB/s."},
		{"never", free, "", ""},
	} {
		got := sparkOf(c.run)
		if say := strings.TrimSpace(got.GivesWay + " " + got.Takes); say != c.say || got.Pace != c.pace {
			t.Errorf("%s: got %q, %q, want %q, %q", c.name, say, got.Pace, c.say, c.pace)
		}
	}
	const want = "; it gave way to others for 22 seconds; its limit is 140" + hardSpace + "MB/s"
	if got := sparkOf(now).Summary; !strings.HasPrefix(got, "Speed in the last 60 seconds: average ") || !strings.HasSuffix(got, want) {
		t.Errorf("in place of the graph: %q, want it to end %q", got, want)
	}
}

// TestGivingWayIsOnEveryPageOfTheRun, at once without script, and in the streams.
func TestGivingWayIsOnEveryPageOfTheRun(t *testing.T) {
	st := literalStates()["yielding"]
	at := newSite(t, show(st))
	withHistory(t, at.store, st)
	run := *runFor(st.Jobs[0].Job, at14, "running")
	run.ID = st.Jobs[0].Run.ID
	if _, err := at.store.Begin(run); err != nil {
		t.Fatal(err)
	}
	wants := []string{`class="gave"`, `class="brim"`, `class="limit"`, "it gave way to others for 22 seconds", "<strong>Gives way to others, who read 48 MB/s from the source&#39;s drive."}
	for page, view := range map[string]string{"/": "overview", "/jobs/photos": "job/photos", runURL(run.ID): "run/" + run.ID} {
		_, html := at.get(t, page)
		frame := firstFrame(t, at, view)
		for _, want := range wants {
			if !strings.Contains(html, want) {
				t.Errorf("%s has no %s", page, want)
			}
			if !strings.Contains(frame, want) {
				t.Errorf("the stream of %s has no %s", page, want)
			}
		}
	}
	got, err := at.dial(t).Status()
	if err != nil || !slices.Equal(got.Jobs[0].Run.Shares, st.Jobs[0].Run.Shares) || got.Jobs[0].Run.Progress.Pace != st.Jobs[0].Run.Progress.Pace {
		t.Errorf("the API tells %+v, %v", got.Jobs[0].Run, err)
	}
}

// TestPauseIsOnWhenItsAnswerComes: button and command line wait for the agent's
// own call, which closes the gate; nothing is left to be looked up later.
func TestPauseIsOnWhenItsAnswerComes(t *testing.T) {
	at := newSite(t, nil)
	c := at.dial(t)
	for name, pause := range map[string]func() error{
		"button": func() error {
			at.post(t, "/pause", url.Values{"for": {"resume"}})
			return nil
		},
		"command line": func() error { return c.Pause(time.Time{}) },
	} {
		if err := pause(); err != nil || !at.status().Pause.On {
			t.Errorf("%s: %v, paused %v, want it to be on", name, err, at.status().Pause.On)
		}
		if err := c.Resume(); err != nil || at.status().Pause.On {
			t.Errorf("resume after %s: %v, paused %v", name, err, at.status().Pause.On)
		}
	}
}

// TestFormExplainsThePaces, each in a sentence, and the limit.
func TestFormExplainsThePaces(t *testing.T) {
	at := newSite(t, nil)
	job := newJob(t, at.dial(t), nil)
	_, html := at.get(t, jobURL(job.ID)+"/edit")
	for _, want := range []string{
		`value="" checked><span>By itself <span class="muted">gentle when the schedule starts it`,
		`value="gentle"><span>Gentle <span class="muted">gives way`,
		`value="normal"><span>Normal <span class="muted">goes on`,
		`value="full"><span>Full speed <span class="muted">takes all`,
		"<small>No more than this is read from the source",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the form has no %s", want)
		}
	}
}
