package main

import (
	"context"
	"errors"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
	"github.com/hourhand/hourhand/web"
)

// advice is what a person can do about an error on the command line, where the
// error itself, made in a room that knows no flags, cannot say it.
var advice = []struct {
	err  error
	text string
}{
	{engine.ErrForeign, "look what would happen with --dry-run --adopt; --adopt takes the folder over: equal files are kept, others are moved to .hourhand/found"},
	{engine.ErrVolume, "check that the right drive is connected; if it is, say --yes (a job: hourhand approve JOB)"},
	{engine.ErrHeld, "look with --dry-run; if it is meant, say --yes (a job: hourhand approve JOB)"},
	{engine.ErrNoSource, "is the disk connected?"},
	{engine.ErrNoTarget, "is the drive connected? A new target's parent folder must exist"},
	{engine.ErrNoSpace, "the old copies stay; make room on the target or exclude something"},
	{store.ErrLocked, "wait until the other command has ended, or quit the other agent"},
	{agent.ErrOtherPlan, "run hourhand approve JOB without --plan to see the present list"},
	{agent.ErrBusy, "wait for the run at work, or stop it with hourhand cancel JOB"},
	{web.ErrNoAgent, "start it with hourhand agent, or hourhand autostart on"},
}

// explain is an error's text with the advice for it on a line below.
func explain(err error) string {
	if errors.Is(err, context.Canceled) {
		return "cancelled"
	}
	text := err.Error()
	for _, a := range advice {
		if errors.Is(err, a.err) {
			return text + "\n  " + a.text
		}
	}
	return text
}
