package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// presentHour is what an agent takes for "the hour that it is now".
const presentHour = -1

// runFlags are those of the commands that start a run.
type runFlags struct{ wait, json bool }

func (f *runFlags) bind(c *cobra.Command) {
	c.Flags().BoolVar(&f.wait, "wait", false, "wait for the end and print the report")
	jsonFlag(c, &f.json)
}

func (a *app) runCommand() *cobra.Command {
	var hour string
	var f runFlags
	c := &cobra.Command{
		Use:   "run JOB",
		Short: "run a job now, into the present hour or the one that --hour names",
		Long: `Run a job now, into the present hour or the one that --hour names.

The running agent does it in the background, unless --wait is given. Without an
agent this command does it itself, and waits.`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&hour, "hour", "", "the hour `HH`, 00 to 23")
	f.bind(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		h, err := parseHour(hour)
		if err != nil {
			return err
		}
		return a.begin(c.Context(), args[0], f, func(b backend) (string, error) {
			return b.Start(args[0], h)
		})
	}
	return c
}

func (a *app) fillCommand() *cobra.Command {
	var hours string
	var f runFlags
	c := &cobra.Command{
		Use:   "fill JOB",
		Short: "write several hours, or all 24, from one reading of the source",
		Args:  cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&hours, "hours", "", "only these `hours`: 00,02,04")
	f.bind(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		list, err := parseHours(hours)
		if err != nil {
			return err
		}
		return a.begin(c.Context(), args[0], f, func(b backend) (string, error) {
			return b.Fill(args[0], list)
		})
	}
	return c
}

func (a *app) approveCommand() *cobra.Command {
	var plan string
	var yes bool
	var f runFlags
	c := &cobra.Command{
		Use:   "approve JOB",
		Short: "let a held run pass: exactly what its list shows",
		Args:  cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&plan, "plan", "", "the `id` of the list that was shown; refused if the list has changed since")
	c.Flags().BoolVar(&yes, "yes", false, "approve the list that waits without asking")
	f.bind(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.begin(c.Context(), args[0], f, func(b backend) (string, error) {
			if f.json && plan == "" && !yes {
				return "", a.printWaiting(b, args[0])
			}
			id, err := a.choosePlan(c.Context(), b, args[0], plan, yes)
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
func (a *app) begin(ctx context.Context, job string, f runFlags, start func(backend) (string, error)) error {
	return a.withBackend(ctx, func(b backend) error {
		run, err := start(b)
		if err != nil {
			return err
		}
		_, ours := b.(*here)
		if ours || f.wait {
			err := a.follow(ctx, b, run, f.json)
			if errors.Is(err, context.Canceled) && !ours {
				a.warnf("hourhand: the agent goes on with it; hourhand cancel %s stops it", shellQuote(job))
				return ended(codeCancelled)
			}
			return err
		}
		if f.json {
			return printJSON(a.out, map[string]string{"run": run})
		}
		a.printf("started; hourhand status shows it, hourhand cancel %s stops it", shellQuote(job))
		return nil
	})
}

// choosePlan shows the list that waits for approval and asks, unless the caller
// has named it already.
func (a *app) choosePlan(ctx context.Context, b backend, job, plan string, yes bool) (string, error) {
	if plan != "" || yes {
		return plan, nil
	}
	s, err := jobStatus(b, job)
	if err != nil || s.Last == nil || s.Last.Outcome != store.Held {
		return "", err // the agent tells that nothing waits
	}
	a.printf("held: %s", clean(s.Last.Reason))
	id := "" // of a run that found another drive than before: it has no list
	if s.Plan != nil {
		id = s.Plan.ID
		a.printPlan(*s.Plan)
	}
	return id, a.askToPass(ctx, id)
}

// printWaiting prints the list that waits for approval as JSON, and asks nobody.
func (a *app) printWaiting(b backend, job string) error {
	s, err := jobStatus(b, job)
	if err != nil {
		return err
	}
	if s.Last == nil || s.Last.Outcome != store.Held {
		return agent.ErrNotHeld
	}
	held := struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
		Plan   *plan  `json:"plan,omitempty"`
	}{Type: "held", Reason: s.Last.Reason}
	if s.Plan != nil {
		held.Plan = planOf(*s.Plan)
	}
	if err := printJSON(a.out, held); err != nil {
		return err
	}
	return ended(codeHeld)
}

// askToPass asks a person on a terminal.
func (a *app) askToPass(ctx context.Context, plan string) error {
	if !isTerminal(a.in) {
		how := "--yes"
		if plan != "" {
			how = "--plan " + plan + ", or --yes"
		}
		a.warnf("hourhand: nobody is here to ask; say %s", how)
		return &exitError{codeHeld}
	}
	fmt.Fprint(a.out, "let this pass? [y/N] ")
	agreed, err := a.agrees(ctx)
	if err == nil && !agreed {
		a.printf("not approved; nothing changed")
		return ended(codeHeld)
	}
	return err
}

// agrees reads a person's answer to a question with [y/N].
func (a *app) agrees(ctx context.Context) (bool, error) {
	typed := make(chan string, 1)
	go func() { // ends with the line, or with the process
		line, _ := bufio.NewReader(a.in).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case line := <-typed:
		return strings.EqualFold(line, "y"), nil
	}
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
