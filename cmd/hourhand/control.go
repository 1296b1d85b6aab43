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
	return a.control(c, func(b backend, args []string) (answer, error) {
		text := ""
		if len(args) > 0 {
			text = args[0]
		}
		until, err := agent.ParseUntil(text, time.Now())
		if err != nil {
			return answer{}, usagef("%v", err)
		}
		return answer{State: "paused", Until: until, text: "paused until " + pauseEnd(until, time.Now())}, b.Pause(until)
	})
}

func (a *app) resumeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "resume",
		Short: "end a pause; the newest due that it skipped is run at once",
		Args:  cobra.NoArgs,
	}
	return a.control(c, func(b backend, _ []string) (answer, error) {
		return answer{State: "resumed", text: "resumed"}, b.Resume()
	})
}

func (a *app) cancelCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "cancel [JOB]",
		Short: "stop the run at work of a job, or of all jobs; no half file stays",
		Args:  cobra.MaximumNArgs(1),
	}
	return a.control(c, func(b backend, args []string) (answer, error) {
		job := ""
		if len(args) > 0 {
			job = args[0]
		}
		return answer{State: "cancelled", text: "cancelled"}, b.Cancel(job)
	})
}

// answer is what a command that gives an order prints.
type answer struct {
	State string    `json:"state"`
	Until time.Time `json:"until,omitzero"`
	text  string
}

// control makes c a command that gives the backend one order.
func (a *app) control(c *cobra.Command, order func(backend, []string) (answer, error)) *cobra.Command {
	var asJSON bool
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withBackend(c.Context(), func(b backend) error {
			done, err := order(b, args)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.out, done)
			}
			a.printf("%s", done.text)
			return nil
		})
	}
	return c
}
