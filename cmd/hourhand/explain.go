package main

import (
	"context"
	"errors"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/web"
)

// advice is what a person can do about an error on the command line, where the
// error itself, made in a room that knows no flags, cannot say it.
var advice = []struct {
	err  error
	text string
}{
	{engine.ErrHeld, "look with --dry-run; if it is meant, say --yes (for a job: hourhand approve JOB)"},
	{agent.ErrOtherPlan, "hourhand approve JOB, without --plan, shows the present list"},
	{agent.ErrBusy, "wait for the run at work, or stop it with hourhand cancel JOB"},
	{agent.ErrPaused, "hourhand resume ends the pause"},
	{web.ErrNoAgent, "start it with hourhand agent, or at each login by hourhand autostart on"},
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
