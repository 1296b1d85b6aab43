package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
)

// presentHour is what an agent takes for "the hour that it is now".
const presentHour = -1

func (a *app) runCommand() *cobra.Command {
	var hour string
	var wait, asJSON bool
	c := &cobra.Command{
		Use:   "run JOB",
		Short: "run a job now, into the present hour or the one that --hour names",
		Long: `Run a job now, into the present hour or the one that --hour names.

The running agent does it in the background, unless --wait is given. Without an
agent this command does it itself, and waits.`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&hour, "hour", "", "the hour `HH`, 00 to 23")
	c.Flags().BoolVar(&wait, "wait", false, "wait for the end and print the report")
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		h, err := parseHour(hour)
		if err != nil {
			return err
		}
		return a.begin(c.Context(), args[0], wait, asJSON, func(b backend) (string, error) {
			return b.Start(args[0], h)
		})
	}
	return c
}

func (a *app) fillCommand() *cobra.Command {
	var hours string
	var wait, asJSON bool
	c := &cobra.Command{
		Use:   "fill JOB",
		Short: "write several hours, or all 24, from one reading of the source",
		Args:  cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&hours, "hours", "", "only these `hours`: 00,02,04")
	c.Flags().BoolVar(&wait, "wait", false, "wait for the end and print the report")
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		list, err := parseHours(hours)
		if err != nil {
			return err
		}
		return a.begin(c.Context(), args[0], wait, asJSON, func(b backend) (string, error) {
			return b.Fill(args[0], list)
		})
	}
	return c
}

func (a *app) approveCommand() *cobra.Command {
	var plan string
	var yes, wait, asJSON bool
	c := &cobra.Command{
		Use:   "approve JOB",
		Short: "let a held run pass: exactly what its list shows",
		Args:  cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&plan, "plan", "", "the `id` of the list that was shown; refused if the list has changed since")
	c.Flags().BoolVar(&yes, "yes", false, "approve the list that waits without asking")
	c.Flags().BoolVar(&wait, "wait", false, "wait for the end and print the report")
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.begin(c.Context(), args[0], wait, asJSON, func(b backend) (string, error) {
			id, err := a.choosePlan(b, args[0], plan, yes)
			if err != nil {
				return "", err
			}
			return b.Approve(args[0], id)
		})
	}
	return c
}

// begin starts a run and, if it is asked for or if this process is the one that
// does it, follows it to its end.
func (a *app) begin(ctx context.Context, job string, wait, asJSON bool, start func(backend) (string, error)) error {
	return a.withBackend(ctx, func(b backend) error {
		run, err := start(b)
		if err != nil {
			return err
		}
		_, ours := b.(*here)
		if ours || wait {
			err := a.follow(ctx, b, run, asJSON)
			if errors.Is(err, context.Canceled) && !ours {
				a.warnf("hourhand: the agent goes on with it; hourhand cancel %s stops it", shellQuote(job))
			}
			return err
		}
		if asJSON {
			return printJSON(a.out, map[string]string{"run": run})
		}
		a.printf("started; hourhand status shows it, hourhand cancel %s stops it", shellQuote(job))
		return nil
	})
}

// choosePlan shows the list that waits for approval and asks, unless the caller
// has named it already.
func (a *app) choosePlan(b backend, job, plan string, yes bool) (string, error) {
	if plan != "" {
		return plan, nil
	}
	s, err := jobStatus(b, job)
	if err != nil {
		return "", err
	}
	if s.State != agent.Held || yes {
		return "", nil // the agent tells if nothing waits
	}
	a.printf("held: %s", clean(s.Reason))
	id := "" // of a run that found another drive than before: it has no list
	if s.Plan != nil {
		id = s.Plan.ID
		a.printPlan(*s.Plan)
	}
	return id, a.askToPass(id)
}

// askToPass asks a person on a terminal.
func (a *app) askToPass(plan string) error {
	if !isTerminal(a.in) {
		how := "--yes"
		if plan != "" {
			how = "--plan " + plan + ", or --yes"
		}
		a.warnf("hourhand: nobody is here to ask; say %s", how)
		return &exitError{codeHeld}
	}
	fmt.Fprint(a.out, "let this pass? [y/N] ")
	var answer string
	if _, err := fmt.Fscanln(a.in, &answer); err != nil || !strings.EqualFold(answer, "y") {
		return &exitError{codeHeld}
	}
	return nil
}

func (a *app) printPlan(p engine.Plan) {
	for i, item := range p.Sample {
		if i == shownProblems {
			break
		}
		a.printf("  %s", itemText(item))
	}
	if more := p.Remove.Files + p.Replace.Files - int64(min(len(p.Sample), shownProblems)); more > 0 {
		a.printf("  and %s more; the dashboard lists them", count(more))
	}
	a.printf("remove %s, replace %s, add %s; plan %s", amount(p.Remove), amount(p.Replace), amount(p.Add), p.ID)
}

// parseHour reads an hour; nothing is the present one.
func parseHour(text string) (int, error) {
	if text == "" {
		return presentHour, nil
	}
	h, err := strconv.Atoi(text)
	if err != nil || h < 0 || h > 23 || len(text) > 2 {
		return 0, usagef("%q is not an hour; say 00 to 23", text)
	}
	return h, nil
}

// parseHours reads hours with commas between; nothing is nil, which means all.
func parseHours(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var hours []int
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, usagef("%q are not hours; say 00,02,04", text)
		}
		h, err := parseHour(part)
		if err != nil {
			return nil, err
		}
		hours = append(hours, h)
	}
	return hours, nil
}
