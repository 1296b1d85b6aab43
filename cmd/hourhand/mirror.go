package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/engine"
)

// mirrorFlags are those of mirror alone.
type mirrorFlags struct {
	copyFlags
	dryRun  bool
	adopt   bool
	yes     bool
	logFile string
	json    bool
	quiet   bool
	verbose bool
}

func (a *app) mirrorCommand() *cobra.Command {
	var f mirrorFlags
	c := &cobra.Command{
		Use:   "mirror SOURCE TARGET...",
		Short: "make each TARGET equal to SOURCE, once, and prove it (no agent, no job)",
		Args:  cobra.MinimumNArgs(2),
	}
	f.bind(c.Flags())
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "change nothing; print what would be done, and why")
	c.Flags().BoolVar(&f.adopt, "adopt", false, "take over a target that is not ours: equal files are kept, others moved to .hourhand/found")
	c.Flags().BoolVar(&f.yes, "yes", false, "go on where a guard would hold: another drive, an empty source, mass changes")
	c.Flags().StringVar(&f.logFile, "log", "", "append what happens to a `file`, one JSON object a line")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON: progress, then one report a target")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "print only problems and errors")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "print the files in work as they go by")
	c.MarkFlagsMutuallyExclusive("quiet", "verbose", "json")
	c.RunE = func(c *cobra.Command, args []string) error {
		m, err := f.mirror(c, a.in, args[0], args[1:])
		if err != nil {
			return err
		}
		if f.dryRun {
			return a.preview(c.Context(), m, f.json)
		}
		return a.mirror(c.Context(), m, f)
	}
	return c
}

// mirror is the engine's order for these flags.
func (f *mirrorFlags) mirror(c *cobra.Command, in io.Reader, source string, targets []string) (engine.Mirror, error) {
	j := newJob()
	if err := f.put(c.Flags(), in, &j); err != nil {
		return engine.Mirror{}, err
	}
	m, err := mirrorOf(j)
	if err != nil {
		return m, err
	}
	if m.Source, err = absolute(source); err != nil {
		return m, err
	}
	for _, t := range targets {
		if t, err = absolute(t); err != nil {
			return m, err
		}
		m.Dests = append(m.Dests, engine.Dest{Target: t, Hour: engine.OneShot})
	}
	m.MakeDest, m.Adopt, m.Yes = true, f.adopt, f.yes
	return m, nil
}

// mirror runs the engine and tells how it went.
func (a *app) mirror(ctx context.Context, m engine.Mirror, f mirrorFlags) error {
	log, closeLog, err := openLog(f.logFile)
	if err != nil {
		return err
	}
	log.Info("mirror started", "source", m.Source, "targets", len(m.Dests))
	d := a.progress(f.json, f.quiet)
	if f.verbose {
		d = newNames(a.err)
	}
	// The error is that of one of the reports, which all are told.
	reports, _ := engine.Run(ctx, m, d.show)
	d.end()
	total, err := a.tell(reports, f)
	for _, r := range reports {
		logReport(log, reportOf(r))
	}
	log.Info("mirror ended", "exit", int(total))
	if err := errors.Join(err, closeLog()); err != nil {
		return err
	}
	return ended(total)
}

// tell prints the reports and returns the worst code among them. An error that
// is the same for several targets is told once.
func (a *app) tell(reports []engine.Report, f mirrorFlags) (code, error) {
	total, told := codeDone, ""
	for _, er := range reports {
		r := reportOf(er)
		total = worst(total, r.code)
		if f.json {
			if len(reports) == 1 {
				r.Target = ""
			}
			if err := printJSON(a.out, r); err != nil {
				return total, err
			}
			continue
		}
		if er.Err != nil && explain(er.Err) != told {
			told = explain(er.Err)
			a.warnf("hourhand: %s", cleanLines(told))
		}
		r.Reason = ""
		r.print(a.out, f.quiet)
		if er.Sealed && !f.quiet {
			a.printf("  check it without Hourhand: %s", clean(checkLine(er.Target, ".hourhand/mirror.xxh128")))
		}
	}
	return total, nil
}

// progress chooses how a run is shown: to a script, to a person, or not.
func (a *app) progress(asJSON, quiet bool) display {
	switch {
	case asJSON:
		return newJSONProgress(a.out, time.Now)
	case !quiet && isTerminal(a.err):
		return newBar(a.err)
	default:
		return noDisplay
	}
}

// openLog opens the file of --log. Without one, what is logged is dropped.
func openLog(name string) (*slog.Logger, func() error, error) {
	if name == "" {
		return slog.New(slog.DiscardHandler), func() error { return nil }, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, usagef("--log: %v", err)
	}
	return slog.New(slog.NewJSONHandler(f, nil)), f.Close, nil
}

func logReport(log *slog.Logger, r report) {
	for _, p := range r.Problems {
		log.Warn("problem", "target", r.Target, "path", p.Path, "error", p.Error, "cause", p.Cause)
	}
	r.Problems = nil // each has its own line
	log.Info("target ended", "report", r)
}
