package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine/bench"
)

// quickSize and one round are a first impression in one to two minutes, with
// the true number of files in the mixed tree.
const quickSize = 100_000_000

type benchFlags struct {
	dir, to, size, report string
	rounds                int
	quick, json           bool
}

func (a *app) benchCommand() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench",
		Short: "measure a drive: which settings suit it, what verification costs, beside cp, rsync and the like",
		Long: `Measure a drive: which settings of Hourhand suit it, and what verification costs.

It makes trees of the kinds that people have (one large file, photos, a mixed
tree, small texts) in a folder of its own inside DIR, copies each in all the ways
there are (plainly, with the tools that it finds, with Hourhand's settings), and
removes everything again. Nothing else in DIR is touched.`,
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&f.dir, "dir", ".", "a `folder` on the drive to measure")
	c.Flags().StringVar(&f.to, "to", "", "a `folder` on a second drive: copy from DIR's drive to this one")
	c.Flags().StringVar(&f.size, "size", "", "`bytes` of the trees together (default 1G, or less where that does not fit)")
	c.Flags().IntVar(&f.rounds, "rounds", 3, "how many times each case is timed")
	c.Flags().BoolVar(&f.quick, "quick", false, "a first impression in one to two minutes: the same as --size 100M --rounds 1")
	c.Flags().StringVar(&f.report, "report", "", "the new `file` for the page with the pictures (default: hourhand-bench-DATE.html in the current folder)")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON: progress, then the result; no page unless --report names one")
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, name := range []string{"size", "rounds"} {
			if f.quick && c.Flags().Changed(name) {
				return usagef("--quick means --size 100M --rounds 1; leave out --%s, or say --size and --rounds without --quick", name)
			}
		}
		o, err := f.options()
		if err != nil {
			return err
		}
		return a.bench(c.Context(), o, f)
	}
	return c
}

// options checks the flags before anything is written.
func (f *benchFlags) options() (o bench.Options, err error) {
	if o.Dir, err = absolute(f.dir); err != nil {
		return o, err
	}
	if f.to != "" {
		if o.To, err = absolute(f.to); err != nil {
			return o, err
		}
	}
	if o.Size, err = agent.ParseSize(f.size); err != nil {
		return o, usagef("--size: %v", err)
	}
	if f.size != "" && o.Size < bench.MinSize {
		return o, usagef("--size: %s is less than %s, which nothing can be learned from", f.size, agent.FormatSize(bench.MinSize))
	}
	if f.rounds < 1 {
		return o, usagef("--rounds: %d is below 1", f.rounds)
	}
	if o.Rounds = f.rounds; f.quick {
		o.Size, o.Rounds = quickSize, 1
	}
	return o, f.checkReport()
}

// checkReport refuses a report that could not be written after minutes of work.
func (f *benchFlags) checkReport() error {
	if f.report == "" {
		return nil
	}
	if _, err := os.Lstat(f.report); !errors.Is(err, fs.ErrNotExist) {
		return usagef("--report: %s exists already; name a new file", clean(f.report))
	}
	if info, err := os.Stat(filepath.Dir(f.report)); err != nil || !info.IsDir() {
		return usagef("--report: %s is no folder", clean(filepath.Dir(f.report)))
	}
	return nil
}

func (a *app) bench(ctx context.Context, o bench.Options, f benchFlags) error {
	show, end := a.benchProgress(f.json)
	ctx, stop, giveBack := a.untilBenchStopped(ctx)
	r, err := bench.Run(ctx, o, stop.watching(show))
	giveBack()
	end()
	switch {
	case errors.Is(err, bench.ErrPlace):
		a.warnf("hourhand: %s", clean(err.Error()))
		return ended(codeHeld)
	case errors.Is(err, bench.ErrStays): // to be told also where it was cancelled
		a.warnf("hourhand: %s", cleanLines(err.Error()))
		return ended(codeOf(err))
	case err != nil:
		return err
	}
	if f.json {
		err = printJSON(a.out, benchLine{"report", r})
	} else {
		err = a.printBench(r)
	}
	return errors.Join(err, a.writeReport(r, f))
}

// benchLine is the last line of --json.
type benchLine struct {
	Type string `json:"type"`
	bench.Result
}

// printBench prints the table. It names folders, whose names are hostile.
func (a *app) printBench(r bench.Result) error {
	var table bytes.Buffer
	if err := r.Table(&table); err != nil {
		return err
	}
	_, err := io.WriteString(a.out, cleanLines(table.String()))
	return err
}

// writeReport writes the page into a file that was not there.
func (a *app) writeReport(r bench.Result, f benchFlags) error {
	name := f.report
	if name == "" {
		if f.json {
			return nil
		}
		name = r.ReportName()
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := errors.Join(r.HTML(file), file.Close()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if name, err = filepath.Abs(name); err == nil && !f.json {
		a.printf("\nthe pictures: %s", clean(name))
	}
	return err
}

// benchProgress shows what is measured to a script, to a person, or not.
func (a *app) benchProgress(asJSON bool) (show func(bench.Progress), end func()) {
	switch {
	case asJSON:
		return benchJSON(a.out), func() {}
	case isTerminal(a.err):
		return benchBar(a.err)
	}
	return nil, func() {}
}

type benchProgressLine struct {
	Type      string `json:"type"` // "progress"
	Work      string `json:"work"`
	Case      string `json:"case,omitempty"`
	Round     int    `json:"round,omitempty"`
	BytesDone int64  `json:"bytes_done"`
	BytesOf   int64  `json:"bytes_total"`
}

// benchJSON prints one object a line, at most one a second.
func benchJSON(w io.Writer) func(bench.Progress) {
	var last time.Time
	return func(p bench.Progress) {
		if now := time.Now(); now.Sub(last) >= progressEvery {
			last = now
			_ = printJSON(w, benchProgressLine{"progress", p.Work, p.Case, p.Round, p.Done, p.Total})
		}
	}
}

// benchBar draws how far the bench is, by the bytes that it writes, and the time
// left.
func benchBar(w io.Writer) (show func(bench.Progress), end func()) {
	bar := progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionFullWidth(),
	)
	show = func(p bench.Progress) {
		bar.ChangeMax64(p.Total + 1) // to the library a full bar is the end
		bar.Describe(benchText(p))
		_ = bar.Set64(p.Done) // it can only complain about its own terminal
	}
	return show, func() { _ = bar.Clear(); _ = bar.Exit() }
}

func benchText(p bench.Progress) string {
	if p.Case == "" {
		return p.Work + ": making it"
	}
	return fmt.Sprintf("%s, round %d: %s", p.Work, p.Round, strings.TrimPrefix(p.Case, "hourhand, "))
}
