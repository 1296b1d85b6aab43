package tray

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/static"
	"github.com/hourhand/hourhand/store"
)

var now = time.Date(2026, 6, 1, 13, 20, 0, 0, time.UTC)

func job(name string, state agent.State) agent.JobStatus {
	return agent.JobStatus{Job: store.Job{Name: name}, State: state, Last: &store.Run{Ended: now.Add(-time.Hour)}}
}

func TestHeadlines(t *testing.T) {
	copying := job("Photos", agent.Running)
	copying.Run = &agent.RunStatus{Progress: engine.Progress{TotalsKnown: true, CopyDone: 62, CopyTotal: 100}}
	counting := job("Photos", agent.Running)
	counting.Run = &agent.RunStatus{Progress: engine.Progress{CopyDone: 62, CopyTotal: 100}}
	checking := job("Photos", agent.Verifying)
	checking.Run = &agent.RunStatus{Progress: engine.Progress{TotalsKnown: true, CopyDone: 100, CopyTotal: 100}}
	for _, c := range []struct {
		status agent.Status
		want   string
	}{
		{agent.Status{State: agent.Idle}, "Nothing is protected yet"},
		{agent.Status{State: agent.Idle, Jobs: []agent.JobStatus{job("Photos", agent.Idle)}}, "Everything is protected"},
		{agent.Status{State: agent.Running, Jobs: []agent.JobStatus{copying}}, "Copying Photos, 62%"},
		{agent.Status{State: agent.Running, Jobs: []agent.JobStatus{counting}}, "Copying Photos"},
		{agent.Status{State: agent.Verifying, Jobs: []agent.JobStatus{checking}}, "Checking Photos, 99%"},
		{agent.Status{State: agent.Pausing, Pause: agent.Pause{On: true}, Jobs: []agent.JobStatus{copying}}, "Pausing…"},
		{agent.Status{State: agent.Paused, Pause: agent.Pause{On: true}}, "Paused until you resume"},
		{agent.Status{State: agent.Paused, Pause: agent.Pause{On: true, Until: now.Add(24 * time.Hour)}}, "Paused until tomorrow 13:20"},
		{agent.Status{State: agent.Failed, Jobs: []agent.JobStatus{job("Music", agent.Idle), job("Photos", agent.Failed)}}, "Photos failed at 12:20"},
		{agent.Status{State: agent.NoDrive, Jobs: []agent.JobStatus{job("Photos", agent.NoDrive)}}, "The drive of Photos is not connected"},
		{agent.Status{State: agent.Held, Jobs: []agent.JobStatus{job("Photos", agent.Held)}}, "Photos waits for you"},
	} {
		c.status.Now = now
		if got := menuFor(c.status)[0]; got.title != c.want || !got.off {
			t.Errorf("%v: %q (off %v), want %q", c.status.State, got.title, got.off, c.want)
		}
	}
}

func titles(items []item) (list []string) {
	for _, i := range items {
		switch {
		case i.hidden:
			continue
		case i.off:
			list = append(list, "("+i.title+")")
		default:
			list = append(list, i.title)
		}
		list = append(list, titles(i.below)...)
	}
	return list
}

func TestMenu(t *testing.T) {
	s := agent.Status{
		Now: now, State: agent.Idle, Jobs: []agent.JobStatus{job("Photos", agent.Idle)},
		Newest: now.Add(-16 * time.Minute), Next: now.Add(40 * time.Minute),
	}
	pauses := []string{"Pause", "For 30 minutes", "For 1 hour", "Until tomorrow 08:00", "Until I resume"}
	want := slices.Concat([]string{"(Everything is protected)", "(Newest copy: 13:04)", "(Next: 14:00)", "Open dashboard", "Run now"}, pauses, []string{"Quit"})
	if got := titles(menuFor(s)); !slices.Equal(got, want) {
		t.Errorf("idle:\n got %q\nwant %q", got, want)
	}
	s.Pause, s.State, s.Newest, s.Next = agent.Pause{On: true}, agent.Paused, time.Time{}, now.AddDate(0, 0, 3)
	want = slices.Concat([]string{"(Paused until you resume)", "(No copy yet)", "(Next: 4 Jun 13:20)", "Open dashboard", "(Run now)"}, pauses, []string{"Resume", "Quit"})
	if got := titles(menuFor(s)); !slices.Equal(got, want) {
		t.Errorf("paused:\n got %q\nwant %q", got, want)
	}
}

// Lines cannot be taken away or moved: every status must have the same ones.
func TestMenuKeepsItsShape(t *testing.T) {
	var shape func([]item) []command
	shape = func(items []item) (list []command) {
		for _, i := range items {
			list = append(append(list, i.command), shape(i.below)...)
		}
		return list
	}
	want := shape(menuFor(agent.Status{}))
	for _, s := range []agent.Status{
		{Pause: agent.Pause{On: true}, State: agent.Paused},
		{Jobs: []agent.JobStatus{job("Photos", agent.Failed)}, State: agent.Failed},
	} {
		if got := shape(menuFor(s)); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", s.State, got, want)
		}
	}
}

func TestTooltipFitsWindows(t *testing.T) {
	s := agent.Status{Now: now, State: agent.Failed, Newest: now.AddDate(0, 0, -1), Next: now, Jobs: []agent.JobStatus{job("Photos", agent.Failed)}}
	if got, want := tooltip(s), "Hourhand: Photos failed at 12:20\nNewest copy: yesterday 13:20\nNext: 13:20"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Jobs[0].Job.Name = strings.Repeat("𝔓", 100)
	if got := tooltip(s); len(utf16.Encode([]rune(got))) > tooltipSize || !strings.HasSuffix(got, "𝔓…") {
		t.Errorf("a long name: %d units, %q", len(utf16.Encode([]rune(got))), got)
	}
}

func TestEachStateHasAnIcon(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []agent.State{agent.Idle, agent.Running, agent.Verifying, agent.Pausing, agent.Paused, agent.Waiting,
		agent.Failed, agent.Partial, agent.Held, agent.Never, agent.NoDrive, agent.NoSource} {
		name := iconFor(s)
		seen[name] = true
		if png, ico := static.TrayIcon(name); len(png) == 0 || len(ico) == 0 {
			t.Errorf("%v: the icon %q is empty", s, name)
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d icons in use, want 5", len(seen))
	}
}

func TestCommands(t *testing.T) {
	var calls []string
	note := func(what string) func() { return func() { calls = append(calls, what) } }
	c := Config{
		Open: note("open"), StartAll: note("start"), Resume: note("resume"), Quit: note("quit"),
		Pause: func(until time.Time) { calls = append(calls, until.Format("pause 2 15:04")) },
		Now:   func() time.Time { return now },
	}
	for command := nothing; command <= quit; command++ {
		c.do(command)
	}
	want := []string{"open", "start", "pause 1 13:50", "pause 1 14:20", "pause 2 08:00", "pause 1 00:00", "resume", "quit"}
	if !slices.Equal(calls, want) {
		t.Errorf("got %q, want %q", calls, want)
	}
}

func TestFollowShowsTimesAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		watch := func(ctx context.Context) iter.Seq[agent.Status] {
			return func(yield func(agent.Status) bool) {
				yield(agent.Status{State: agent.Idle})
				<-ctx.Done()
			}
		}
		var shown []time.Duration
		begin := time.Now()
		go Config{Watch: watch}.follow(ctx, func(s agent.Status) { shown = append(shown, s.Now.Sub(begin)) })
		time.Sleep(2*time.Minute + time.Second)
		cancel()
		synctest.Wait()
		if want := []time.Duration{0, time.Minute, 2 * time.Minute}; !slices.Equal(shown, want) {
			t.Errorf("shown after %v, want %v", shown, want)
		}
	})
}
