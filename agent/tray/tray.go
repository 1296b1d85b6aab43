// Package tray shows the agent's state as an icon with a menu. It decides
// nothing: what a click means is a call into its Config.
//
// Windows and macOS have it by default, Linux with the build tag "tray", for
// there it needs GTK and AppIndicator (libgtk-3-dev, libayatana-appindicator3-dev).
package tray

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/hourhand/hourhand/agent"
)

// ErrNone says that there can be no tray icon here: not in this build, or no
// desktop. It is wrapped with the reason. Hourhand goes on without.
var ErrNone = errors.New("no tray icon")

// Config of Run. Every field but Now is needed. The calls are made from
// goroutines of the tray, one at a time each; they may take their time.
type Config struct {
	Watch    func(context.Context) iter.Seq[agent.Status] // the agent's
	Open     func()                                       // the dashboard
	StartAll func()                                       // a run of each job, now
	Pause    func(until time.Time)                        // zero: until resumed
	Resume   func()
	Quit     func()           // also called when the session ends; ends the ctx of Run
	Now      func() time.Time // nil: time.Now
}

// follow calls show for each newer status until ctx ends, and for the present one
// each minute: "tomorrow" becomes "today" without the agent having anything to tell.
func (c Config) follow(ctx context.Context, show func(agent.Status)) {
	newer := make(chan agent.Status)
	go func() { // ends with ctx
		for s := range c.Watch(ctx) {
			select {
			case newer <- s:
			case <-ctx.Done():
			}
		}
	}()
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	var s agent.Status
	for {
		select {
		case s = <-newer:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s.Now = c.now()
		show(s)
	}
}

func (c Config) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// do carries out what an item of the menu stands for.
func (c Config) do(command command) {
	now := c.now()
	switch command {
	case openDashboard:
		c.Open()
	case runNow:
		c.StartAll()
	case pauseHalfHour:
		c.Pause(now.Add(30 * time.Minute))
	case pauseHour:
		c.Pause(now.Add(time.Hour))
	case pauseTomorrow:
		c.Pause(tomorrow(now))
	case pauseForGood:
		c.Pause(time.Time{})
	case resume:
		c.Resume()
	case quit:
		c.Quit()
	}
}

// tomorrow is when people are back at work.
func tomorrow(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day()+1, 8, 0, 0, 0, now.Location())
}
