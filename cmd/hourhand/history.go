package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/store"
)

// shownRuns is how many runs history prints unless told otherwise: two days of
// an hourly job.
const shownRuns = 48

func (a *app) historyCommand() *cobra.Command {
	var asJSON bool
	var last int
	c := &cobra.Command{
		Use:   "history [JOB]",
		Short: "list what ran, newest first, and what did not",
		Args:  cobra.MaximumNArgs(1),
	}
	c.Flags().IntVar(&last, "last", shownRuns, "how `many` runs, 0 for all that are kept")
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		if last < 0 {
			return usagef("--last cannot be below 0")
		}
		job := ""
		if len(args) > 0 {
			job = args[0]
		}
		return a.withBackend(c.Context(), func(b backend) error {
			runs, err := b.History(job, last)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.out, append([]store.Run{}, runs...))
			}
			return a.printRuns(runs)
		})
	}
	return c
}

func (a *app) printRuns(runs []store.Run) error {
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, r := range runs {
		hour := "-"
		if r.Hour >= 0 {
			hour = fmt.Sprintf("%02d", r.Hour)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n",
			r.Started.Local().Format("2006-01-02 15:04"), r.JobName, hour, r.Outcome, runText(r), clean(r.Reason))
	}
	return t.Flush()
}

// runText says in a few words what a run did.
func runText(r store.Run) string {
	if !r.Ended.After(r.Started) {
		return ""
	}
	text := fmt.Sprintf("%s copied, %s updated, %s removed in %s",
		count(r.Copied.Files), count(r.Updated.Files), count(r.Removed.Files), span(r.Ended.Sub(r.Started).Round(time.Millisecond)))
	if r.ProblemCount > 0 {
		text += ", " + plural(r.ProblemCount, "problem")
	}
	return text
}
