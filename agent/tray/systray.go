//go:build windows || (darwin && cgo) || (linux && tray)

package tray

import (
	"context"
	"time"

	"github.com/getlantern/systray"

	"github.com/hourhand/hourhand/agent"
)

// patience is how often Run looks for a desktop's tray: at login the agent may
// be there first.
const patience = 5 * time.Second

// Run shows the icon until ctx ends, and returns nil then. It must be called on
// the main goroutine, once in a process. Where a tray may still come, as at login,
// it waits for it; where there can be none it returns ErrNone at once.
func Run(ctx context.Context, c Config) error {
	if err := prepare(); err != nil {
		return err
	}
	for ok, _ := Available(); !ok; ok, _ = Available() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(patience):
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	systray.Run(func() {
		defer close(ended)
		ready(ctx, c)
	}, func() {
		if ctx.Err() == nil { // the session ends, not the agent
			c.Quit()
		}
	})
	cancel()
	<-ended
	return nil
}

// ready fills the tray once the system has one.
func ready(ctx context.Context, c Config) {
	context.AfterFunc(ctx, systray.Quit)
	m := &menu{shown: menuFor(agent.Status{Now: c.now()})}
	m.add(ctx, c, nil, m.shown)
	c.follow(ctx, m.show)
}

// menu is what the system shows now. Only what differs is sent to it: each change
// is a message to another process.
type menu struct {
	shown   []item
	lines   []*systray.MenuItem // of shown and the items below, in that order
	icon    string
	tooltip string
}

// add makes the lines, and a goroutine for each that can be clicked.
func (m *menu) add(ctx context.Context, c Config, parent *systray.MenuItem, items []item) {
	for _, it := range items {
		if it.section {
			systray.AddSeparator()
		}
		var line *systray.MenuItem
		if parent == nil {
			line = systray.AddMenuItem(it.title, "")
		} else {
			line = parent.AddSubMenuItem(it.title, "")
		}
		m.lines = append(m.lines, line)
		apply(line, item{title: it.title}, it)
		if it.command != nothing && it.below == nil {
			forward(ctx, line.ClickedCh, func() { c.do(it.command) })
		}
		m.add(ctx, c, line, it.below)
	}
}

// forward does what a line stands for at each click, until ctx ends. systray drops
// a click when nobody waits for it, so one goroutine does nothing but wait, and a
// click during the work of the last is kept. More are of no use: the same again.
func forward(ctx context.Context, clicks <-chan struct{}, do func()) {
	kept := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case <-clicks:
			case <-ctx.Done():
				return
			}
			select {
			case kept <- struct{}{}:
			default:
			}
		}
	}()
	go func() {
		for {
			select {
			case <-kept:
				do()
			case <-ctx.Done():
				return
			}
		}
	}()
}

// show brings icon, tooltip and menu up to date.
func (m *menu) show(s agent.Status) {
	if icon := iconFor(s.State); icon != m.icon {
		m.icon = icon
		systray.SetIcon(icons[icon])
	}
	if text := tooltip(s); text != m.tooltip {
		m.tooltip = text
		systray.SetTooltip(text)
	}
	items := menuFor(s)
	m.update(m.lines, m.shown, items)
	m.shown = items
}

// update brings lines from what they show to what they should, and returns those
// that belong to others.
func (m *menu) update(lines []*systray.MenuItem, old, items []item) []*systray.MenuItem {
	for i := range items {
		apply(lines[0], old[i], items[i])
		lines = m.update(lines[1:], old[i].below, items[i].below)
	}
	return lines
}

func apply(line *systray.MenuItem, old, it item) {
	if old.title != it.title {
		line.SetTitle(it.title)
	}
	if old.off != it.off {
		if it.off {
			line.Disable()
		} else {
			line.Enable()
		}
	}
	if old.hidden != it.hidden {
		if it.hidden {
			line.Hide()
		} else {
			line.Show()
		}
	}
}
