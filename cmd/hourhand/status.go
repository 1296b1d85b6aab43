package main

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/web"
)

// noAgentState is what status prints as JSON when there is none to ask.
type noAgentState struct {
	State string `json:"state"` // "off"
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "tell what the agent does; without a running agent: exit code 1",
		Args:  cobra.NoArgs,
	}
	jsonFlag(c, &asJSON)
	c.RunE = func(*cobra.Command, []string) error {
		dir, err := dataFolder(a.data)
		if err != nil {
			return err
		}
		client, err := web.Dial(dir)
		if errors.Is(err, web.ErrNoAgent) && asJSON {
			return errors.Join(printJSON(a.out, noAgentState{"off"}), &exitError{codeFailed})
		}
		if err != nil {
			return err
		}
		s, err := client.Status()
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.out, s)
		}
		return a.printStatus(s)
	}
	return c
}

func (a *app) printStatus(s agent.Status) error {
	a.printf("%s", s.State)
	if s.Pause.On {
		a.printf("paused since %s, until %s", when(s.Pause.Since, s.Now), pauseEnd(s.Pause.Until, s.Now))
	}
	if s.Notice != "" {
		a.printf("note: %s", clean(s.Notice))
	}
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, j := range s.Jobs {
		fmt.Fprintf(t, "%s\t%s\tnewest %s\tnext %s\t%s\n",
			j.Job.Name, j.State, newestText(j, s.Now), nextText(j.Next, s.Now), clean(jobNote(j)))
	}
	return t.Flush()
}

func pauseEnd(until, now time.Time) string {
	if until.IsZero() {
		return "you say hourhand resume"
	}
	return when(until, now)
}

func newestText(j agent.JobStatus, now time.Time) string {
	if j.NewestHour < 0 {
		return "none"
	}
	return fmt.Sprintf("hour %02d of %s", j.NewestHour, when(j.Newest, now))
}

func nextText(next, now time.Time) string {
	if next.IsZero() {
		return "by hand"
	}
	return when(next, now)
}

// jobNote is the sentence about a job: how far it is, or what is the matter.
func jobNote(j agent.JobStatus) string {
	if j.Run == nil {
		return j.Reason
	}
	p := j.Run.Progress
	text := barText(p)
	if p.TotalsKnown && p.CopyTotal > 0 {
		text += fmt.Sprintf(", %s of %s", size(p.CopyDone), size(p.CopyTotal))
	}
	if p.Speed > 0 {
		text += fmt.Sprintf(", %s/s", size(int64(p.Speed)))
	}
	return text
}
