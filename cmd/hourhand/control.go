package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/agent"
)

func (a *app) pauseCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "pause [30m|16:30|tomorrow]",
		Short:   "stop all copying within a blink: for a time, until a clock time, or until resumed",
		Example: "  hourhand pause\n  hourhand pause 30m\n  hourhand pause 16:30",
		Args:    cobra.MaximumNArgs(1),
	}
	return a.control(c, func(arg string) (order, error) {
		until, err := agent.ParseUntil(arg, time.Now())
		if err != nil {
			return order{}, usagef("%v", err)
		}
		return order{
			State: "paused", Until: until,
			text: "paused until " + pauseEnd(until, time.Now()),
			give: func(b backend) error { return b.Pause(until) },
		}, nil
	})
}

func (a *app) resumeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "resume",
		Short: "end a pause; the newest due that it skipped is run at once",
		Args:  cobra.NoArgs,
	}
	return a.control(c, func(string) (order, error) {
		return order{State: "resumed", text: "resumed", give: backend.Resume}, nil
	})
}

func (a *app) cancelCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "cancel [JOB]",
		Short: "stop the run at work of a job, or of all jobs; no half file stays",
		Args:  cobra.MaximumNArgs(1),
	}
	return a.control(c, func(job string) (order, error) {
		return order{State: "cancelled", text: "cancelled", give: func(b backend) error { return b.Cancel(job) }}, nil
	})
}

// order is what a command tells the agent to do, and what it prints once that is
// done.
type order struct {
	State string    `json:"state"`
	Until time.Time `json:"until,omitzero"`
	text  string
	give  func(backend) error
}

// control makes c a command that gives one order; read makes it of the argument,
// "" if there is none.
func (a *app) control(c *cobra.Command, read func(arg string) (order, error)) *cobra.Command {
	var asJSON bool
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		arg := ""
		if len(args) > 0 {
			arg = args[0]
		}
		o, err := read(arg)
		if err != nil {
			return err
		}
		if err := a.withBackend(c.Context(), o.give); err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.out, o)
		}
		a.printf("%s", o.text)
		return nil
	}
	return c
}
