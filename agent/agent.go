// Package agent decides when: it turns schedules into due times, keeps the
// queue, pauses, catches up after sleep, and tells everyone the state. What a
// run does is package engine's; what is remembered is package store's.
//
// New, then Run in a goroutine of its own; every other method may be called
// meanwhile. Status and Watch tell what goes on.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

var (
	ErrBusy      = errors.New("busy")           // a run of this job is at work
	ErrNoRun     = errors.New("no run at work") // nothing to cancel
	ErrNotHeld   = errors.New("nothing waits for approval")
	ErrOtherPlan = errors.New("the list has changed since it was shown")
	ErrPaused    = errors.New("paused")   // nothing begins before Resume
	ErrStopped   = errors.New("stopping") // Run is at its end
)

// Config of New.
type Config struct {
	Store   *store.Store
	Scratch string           // folder for spilled lists
	Log     *slog.Logger     // nil: discard
	Now     func() time.Time // nil: time.Now; the wall clock. Its location is the local time of schedules and hours.
	Version string
	Notice  string // for Status.Notice, beside what the store has to tell
	ByHand  bool   // no schedules and no catch-up: a command works without a running agent
}

// Agent runs jobs by their schedules. Its methods may be called from any
// goroutine once New returned.
type Agent struct {
	config  Config
	log     *slog.Logger
	engine  doors
	wake    chan struct{} // of the loop in Run; holds one
	now     func() time.Time
	notice  string
	current atomic.Pointer[snapshot]

	edit sync.Mutex // held while a job is saved or removed, over all of it
	keep sync.Mutex // held while the pause is stored

	// mu guards what follows. Neither disk nor engine is touched under it.
	mu      sync.Mutex
	jobs    map[string]*job // by id
	waiting []*request      // in order of arrival
	working []*request
	wanted  map[string]*request // by id: waiting, working, or about to be recorded
	pause   Pause
	seen    time.Time // the wall clock when the loop last looked
	stopped bool

	runs    sync.WaitGroup // goroutines at work on requests
	looks   sync.WaitGroup // goroutines that look at drives or tidy up
	trimmed time.Time      // when the history was last trimmed; of the loop
}

// doors are the calls into package engine. Tests put their own in place.
type doors struct {
	run     func(context.Context, engine.Mirror, func(engine.Progress)) ([]engine.Report, error)
	verify  func(context.Context, engine.Hour, func(engine.Progress)) (engine.Audit, error)
	check   func(engine.Mirror) error
	target  func(target string) (engine.Target, error)
	hours   func(target string) ([25]engine.State, error)
	entries func(engine.Dest, func(engine.HourEntry) error) (string, error)
	recover func(target string) error
	remark  func(target, source string, o engine.Owner) error
	drive   func(path string) (engine.Drive, error)
}

// New reads the jobs and the pause from the store. It starts nothing.
func New(c Config) (*Agent, error) {
	a := &Agent{
		config: c,
		log:    c.Log,
		now:    c.Now,
		wake:   make(chan struct{}, 1),
		jobs:   map[string]*job{},
		wanted: map[string]*request{},
		engine: doors{
			run: engine.Run, verify: engine.Verify, check: engine.Check, target: engine.ReadTarget, hours: engine.Hours,
			entries: engine.SealedEntries, recover: engine.Recover, remark: engine.Remark, drive: engine.DriveOf,
		},
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	a.notice = strings.TrimSpace(c.Store.Rebuilt() + " " + c.Notice)
	a.seen = a.now()
	if err := a.loadPause(); err != nil {
		return nil, err
	}
	jobs, err := c.Store.Jobs()
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if err := a.load(j); err != nil {
			return nil, fmt.Errorf("load job %q: %w", j.Name, err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.publish()
	return a, nil
}

// longestNap bounds how long the loop sleeps before it reads the wall clock
// again: timers do not count time asleep, and clocks are set.
const longestNap = 30 * time.Second

// Run works until ctx ends, then stops gracefully: a run at work is cancelled
// and recorded. It is called once.
func (a *Agent) Run(ctx context.Context) error {
	if !a.config.ByHand {
		a.recoverTargets()
	}
	for ctx.Err() == nil {
		a.tick()
		a.dispatch(ctx)
		a.trim()
		nap := time.NewTimer(a.nap())
		select {
		case <-ctx.Done():
		case <-a.wake:
		case <-nap.C:
		}
		nap.Stop()
	}
	a.stop()
	a.runs.Wait()
	a.waitForLooks()
	return nil
}

// waitForLooks gives the goroutines that only look a moment to end: one that
// asks a dead network drive must not keep the machine from shutting down.
func (a *Agent) waitForLooks() {
	ended := make(chan struct{})
	go func() {
		a.looks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
	}
}

// stop lets nothing begin any more. Dues that wait are neither run nor recorded:
// the next start finds them missed. What a person asked for is cancelled.
func (a *Agent) stop() {
	a.mu.Lock()
	a.stopped = true
	dropped := a.drop(func(*request) bool { return true })
	a.mu.Unlock()
	for _, r := range dropped {
		if r.scheduled() {
			a.end(r, ErrStopped)
			continue
		}
		a.dismiss(r, store.Cancelled, CauseStopped, "Hourhand was stopped before this run began")
	}
}

// trim applies the store's retention once a day.
func (a *Agent) trim() {
	if a.config.ByHand || !a.trimmed.IsZero() && time.Since(a.trimmed) < 24*time.Hour {
		return
	}
	a.trimmed = time.Now()
	a.looks.Go(func() {
		if err := a.config.Store.Trim(); err != nil {
			a.log.Error("history cannot be trimmed", "error", err)
		}
	})
}

// nudge makes the loop look again.
func (a *Agent) nudge() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// nap is how long nothing is going to be due.
func (a *Agent) nap() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	until := now.Add(longestNap)
	if a.pause.On && !a.pause.Until.IsZero() && a.pause.Until.Before(until) {
		until = a.pause.Until
	}
	for _, j := range a.jobs {
		if !j.next.IsZero() && j.next.Before(until) {
			until = j.next
		}
	}
	return max(until.Sub(now), 0)
}
