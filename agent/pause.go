package agent

import (
	"errors"
	"time"

	"github.com/hourhand/hourhand/store"
)

const settingPause = "pause"

// Pause stops all I/O within 200 ms, in the middle of a file, until the given
// time (zero: until resumed). Dues meanwhile are recorded as skipped. It
// survives a restart; an error says that it will not, but it holds until then.
func (a *Agent) Pause(until time.Time) error {
	a.mu.Lock()
	now := a.now()
	if !until.IsZero() && !until.After(now) {
		a.mu.Unlock()
		return errors.New("the end of the pause has passed already; choose a later time")
	}
	since := now
	if a.pause.On {
		since = a.pause.Since
	}
	a.pause = Pause{On: true, Since: since, Until: until}
	for _, r := range a.working {
		r.gate.Pause()
	}
	dropped := a.drop((*request).scheduled)
	for _, r := range dropped {
		a.owe(r)
	}
	a.publish()
	a.nudge()
	a.mu.Unlock()

	a.log.Info("paused", "until", until)
	err := a.keepPause()
	for _, r := range dropped {
		a.dismiss(r, store.Skipped, CausePaused, "paused")
	}
	return err
}

// Resume ends a pause; the newest due skipped by it is run at once.
func (a *Agent) Resume() error {
	a.mu.Lock()
	on := a.pause.On
	a.pause = Pause{}
	for _, r := range a.working {
		r.gate.Resume()
	}
	a.publish()
	a.mu.Unlock()
	a.nudge() // the loop catches up
	if !on {
		return nil
	}
	a.log.Info("resumed")
	return a.keepPause()
}

// keepPause stores the pause as it is now: of two calls at once, the later one
// stores what both left.
func (a *Agent) keepPause() error {
	a.keep.Lock()
	defer a.keep.Unlock()
	a.mu.Lock()
	p := a.pause
	a.mu.Unlock()
	if !p.On {
		return a.config.Store.SetSetting(settingPause, nil)
	}
	return a.config.Store.SetSetting(settingPause, p)
}

// endPause resumes when a pause is over.
func (a *Agent) endPause(now time.Time) {
	a.mu.Lock()
	over := a.pause.over(now)
	a.mu.Unlock()
	if !over {
		return
	}
	if err := a.Resume(); err != nil {
		a.log.Error("pause cannot be ended for good", "error", err)
	}
}

func (p Pause) over(now time.Time) bool {
	return p.On && !p.Until.IsZero() && !now.Before(p.Until)
}

// loadPause takes up a pause that was on when Hourhand stopped.
func (a *Agent) loadPause() error {
	var p Pause
	if _, err := a.config.Store.Setting(settingPause, &p); err != nil {
		return err
	}
	now := a.now()
	if back := p.Since.Sub(now); p.On && back > 0 { // the clock was set back meanwhile
		p = p.shift(-back)
	}
	if !p.over(now) {
		a.pause = p
	}
	return nil
}

// shift moves a pause with a clock that was set: it lasts as long as it was meant to.
func (p Pause) shift(by time.Duration) Pause {
	p.Since = p.Since.Add(by)
	if !p.Until.IsZero() {
		p.Until = p.Until.Add(by)
	}
	return p
}
