package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// world is an agent with a real store, a clock that can be set, and an engine
// that only plays. It lives in a synctest bubble.
type world struct {
	t testing.TB
	*Agent
	engine *play
	dir    string
	zone   *time.Location
	step   *atomic.Int64 // by which the wall clock differs from the bubble's
	stop   func()        // ends Run and closes the store
}

// inWorld runs a test in a bubble whose clock says start, in start's zone. The
// agent runs unless the test stops it. That no goroutine is left at the end is
// checked by synctest.
func inWorld(t *testing.T, start time.Time, test func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: dir, zone: start.Location(), step: new(atomic.Int64)}
		w.engine = newPlay(w.clock)
		w.step.Store(int64(time.Until(start)))
		w.start(Config{})
		defer func() { w.stop() }()
		test(w)
	})
}

func (w *world) clock() time.Time { return time.Now().Add(time.Duration(w.step.Load())).In(w.zone) }

// start opens the store and runs an agent on it.
func (w *world) start(c Config) {
	w.t.Helper()
	s, err := store.Open(store.Config{Dir: w.dir, Now: w.clock})
	if err != nil {
		w.t.Fatal(err)
	}
	c.Store, c.Now = s, w.clock
	a, err := New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	a.engine = w.engine.doors()
	w.Agent = a
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- a.Run(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-ended, s.Close()); err != nil {
			w.t.Error(err)
		}
	})
	synctest.Wait()
}

// sleep lets the bubble's time pass, for clock and timers alike.
func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// jump sets the wall clock: what sleeping machines and clock changes look like.
// The agent notices at its next look.
func (w *world) jump(d time.Duration) {
	w.step.Add(int64(d))
	w.sleep(longestNap)
}

// job saves a job from /NAME to DRIVE/NAME.
func (w *world) job(name, schedule, drive string) store.Job {
	w.t.Helper()
	j := store.Job{Name: name, Source: filepath.Join(w.t.TempDir(), name), Target: filepath.Join(w.t.TempDir(), drive), Schedule: schedule}
	w.engine.own(drive, j.Source, j.Target)
	j, _, err := w.SaveJob(j)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return j
}

// records lists a job's runs, oldest first, as "due outcome trigger hour".
func (w *world) records(j store.Job) (list []string) {
	w.t.Helper()
	for r, err := range w.config.Store.Runs(j.ID) {
		if err != nil {
			w.t.Fatal(err)
		}
		due := "by hand"
		if !r.Due.IsZero() {
			due = r.Due.In(w.zone).Format("02T15:04Z0700")
		}
		list = append(list, fmt.Sprintf("%s %s %s %02d", due, r.Outcome, r.Trigger, r.Hour))
	}
	slices.Reverse(list)
	return list
}

// want compares lists line by line.
func (w *world) want(what string, got []string, want ...string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("%s:\n  %s\nwant:\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func (w *world) of(j store.Job) JobStatus {
	w.t.Helper()
	for _, js := range w.Status().Jobs {
		if js.Job.ID == j.ID {
			return js
		}
	}
	w.t.Fatalf("no status of job %q", j.Name)
	return JobStatus{}
}

func (w *world) last(j store.Job) store.Run {
	w.t.Helper()
	for r, err := range w.config.Store.Runs(j.ID) {
		if err != nil {
			w.t.Fatal(err)
		}
		return r
	}
	w.t.Fatalf("job %q has no runs", j.Name)
	return store.Run{}
}

// play is an engine that copies nothing. Its runs take their time, obey gate and
// context, and seal their hours.
type play struct {
	clock   func() time.Time
	mu      sync.Mutex
	takes   time.Duration // of a run, pauses not counted
	pace    engine.Pace
	begun   []engine.Mirror
	working int
	most    int // that worked at once
	missing map[string]bool
	unowned map[string]bool
	drives  map[string]string
	states  map[string]*[25]engine.State
	report  func(engine.Mirror, *engine.Report) error // edits what a run reports
	audit   func(engine.Hour) (engine.Audit, error)
	files   []engine.HourEntry
	listed  int // calls of entries
	remarks int
}

func newPlay(clock func() time.Time) *play {
	return &play{
		clock: clock,
		takes: time.Minute, missing: map[string]bool{}, unowned: map[string]bool{},
		drives: map[string]string{}, states: map[string]*[25]engine.State{},
	}
}

func (p *play) doors() doors {
	return doors{run: p.run, verify: p.verify, check: p.check, target: p.target, hours: p.hours, entries: p.entries,
		recover: p.recover, remark: p.remark, drive: p.drive}
}

func (p *play) own(drive, source, target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drives[source], p.drives[target] = "source of "+source, drive
}

// edit changes the play under its lock.
func (p *play) edit(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// orders are those of the runs that began.
func (p *play) orders() []engine.Mirror {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.begun)
}

// dues lists the dues and hours of the runs that began.
func (p *play) dues(zone *time.Location) (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.begun {
		list = append(list, fmt.Sprintf("%s %02d", m.Due.In(zone).Format("02T15:04Z0700"), m.Dests[0].Hour))
	}
	return list
}

func (p *play) run(ctx context.Context, m engine.Mirror, notify func(engine.Progress)) ([]engine.Report, error) {
	p.mu.Lock()
	p.begun = append(p.begun, m)
	p.working++
	p.most = max(p.most, p.working)
	takes, pace := p.takes, p.pace
	p.mu.Unlock()
	started := p.clock()
	err := work(ctx, m.Gate, takes, pace, notify)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working--
	var reports []engine.Report
	for _, d := range m.Dests {
		reports = append(reports, p.conclude(m, d, started, err))
		err = errors.Join(err, reports[len(reports)-1].Err)
	}
	return reports, err
}

func work(ctx context.Context, gate *engine.Gate, takes time.Duration, pace engine.Pace, notify func(engine.Progress)) error {
	const step = 250 * time.Millisecond
	for done := time.Duration(0); done < takes; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(step):
		}
		if !gate.Paused() {
			done += step
		}
		notify(engine.Progress{Phase: "copying", Paused: gate.Paused(), CopyDone: int64(done / time.Millisecond), CopyTotal: int64(takes / time.Millisecond), Pace: pace})
	}
	return nil
}

func (p *play) conclude(m engine.Mirror, d engine.Dest, started time.Time, err error) engine.Report {
	rep := engine.Report{Dest: d, RunID: m.RunID, Outcome: engine.Done, Started: started, Ended: p.clock(), Sealed: true, Changed: true, Copied: engine.Count{Files: 1, Bytes: 10}}
	if p.report != nil && err == nil {
		err = p.report(m, &rep)
	}
	st := p.state(d.Target)
	switch {
	case errors.Is(err, context.Canceled):
		rep.Outcome, rep.Err, rep.Sealed = engine.Cancelled, err, false
		st[d.Hour].Content = engine.Mixed
	case err != nil:
		rep.Err, rep.Sealed = err, false
		if rep.Outcome == engine.Done {
			rep.Outcome = engine.Failed
		}
	default:
		st[d.Hour] = engine.State{Content: engine.Sealed, Hour: d.Hour, From: started, To: rep.Ended, Due: m.Due, RunID: m.RunID, Index: "idx of " + m.RunID, Files: engine.Count{Files: 1, Bytes: 10}}
		if !rep.Changed {
			st[d.Hour].Index = "unchanged"
		}
	}
	return rep
}

func (p *play) state(target string) *[25]engine.State {
	st := p.states[target]
	if st == nil {
		st = new([25]engine.State)
		for i := range st {
			st[i].Hour = i
		}
		p.states[target] = st
	}
	return st
}

func (p *play) verify(ctx context.Context, h engine.Hour, notify func(engine.Progress)) (engine.Audit, error) {
	p.mu.Lock()
	takes, pace, audit, missing := p.takes, p.pace, p.audit, p.missing[h.Target]
	p.mu.Unlock()
	if missing {
		return engine.Audit{Dest: h.Dest}, fmt.Errorf("%w: %s", engine.ErrNoTarget, h.Target)
	}
	if err := work(ctx, h.Gate, takes, pace, notify); err != nil {
		return engine.Audit{Dest: h.Dest}, err
	}
	if audit != nil {
		return audit(h)
	}
	return engine.Audit{Dest: h.Dest, Content: engine.Sealed, Equal: engine.Count{Files: 1, Bytes: 10}, Ended: p.clock()}, nil
}

func (p *play) check(m engine.Mirror) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range m.Dests {
		if p.missing[d.Target] {
			return fmt.Errorf("%w: %s", engine.ErrNoTarget, d.Target)
		}
	}
	return nil
}

func (p *play) target(dir string) (engine.Target, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.missing[dir]:
		return engine.Target{}, fmt.Errorf("%w: %s", engine.ErrNoTarget, dir)
	case p.unowned[dir]:
		return engine.Target{}, fmt.Errorf("%w: %s", engine.ErrForeign, dir)
	}
	return engine.Target{}, nil
}

func (p *play) hours(target string) ([25]engine.State, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.missing[target] {
		return [25]engine.State{}, fmt.Errorf("%w: %s", engine.ErrNoTarget, target)
	}
	return *p.state(target), nil
}

func (p *play) entries(d engine.Dest, each func(engine.HourEntry) error) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listed++
	for _, f := range p.files {
		if err := each(f); err != nil {
			return "", err
		}
	}
	return p.state(d.Target)[d.Hour].RunID, nil
}

func (p *play) recover(string) error { return nil }

func (p *play) remark(string, string, engine.Owner) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remarks++
	return nil
}

func (p *play) drive(path string) (engine.Drive, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return engine.Drive{ID: p.drives[path], Free: 1 << 40}, nil
}
