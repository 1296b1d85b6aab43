package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hourhand/hourhand/engine/exclude"
	"github.com/hourhand/hourhand/store"
)

func (a *app) jobsCommand() *cobra.Command {
	return group("jobs", "add, show, change, remove jobs",
		a.jobsAddCommand(), a.jobsListCommand(), a.jobsShowCommand(), a.jobsEditCommand(),
		a.jobsRemoveCommand(), a.jobsExportCommand(), a.jobsImportCommand())
}

// newJob is a job before any flag has spoken: hourly, every file read back. Its
// profile is left open: gentle by schedule, normal by hand.
func newJob() store.Job {
	return store.Job{Mode: "mirror", Schedule: "0 * * * *", Verify: "full", Retries: 2}
}

// jobFlags are those of jobs add and jobs edit.
type jobFlags struct {
	copyFlags
	source, target, mode, schedule, keep string
}

func (j *jobFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&j.source, "source", "", "the `folder` to copy; it is only ever read")
	f.StringVar(&j.target, "target", "", "the `folder` on the other drive that will hold the hours 00 to 23")
	f.StringVar(&j.mode, "mode", "mirror", "mirror (the hour becomes equal to the source) or changes (it receives what is new or changed)")
	f.StringVar(&j.schedule, "schedule", "0 * * * *", "when: cron with five `fields`, local time; \"\" is only by hand")
	f.StringVar(&j.keep, "keep", "2d", "mode changes: how `long` what was put into an hour stays there")
	j.copyFlags.bind(f)
}

func (j *jobFlags) put(f *pflag.FlagSet, in io.Reader, job *store.Job) error {
	for name, set := range map[string]func() error{
		"source":   func() (err error) { job.Source, err = absolute(j.source); return err },
		"target":   func() (err error) { job.Target, err = absolute(j.target); return err },
		"mode":     func() error { job.Mode = j.mode; return nil },
		"schedule": func() error { job.Schedule = j.schedule; return nil },
		"keep":     func() error { job.Keep = j.keep; return nil },
	} {
		if !f.Changed(name) {
			continue
		}
		if err := set(); err != nil {
			return err
		}
	}
	return j.copyFlags.put(f, in, job)
}

func (a *app) jobsAddCommand() *cobra.Command {
	var f jobFlags
	var asJSON, adopt bool
	c := &cobra.Command{
		Use:     "add NAME --source DIR --target DIR",
		Short:   "add a job",
		Example: "  hourhand jobs add Documents --source ~/Documents --target /media/me/Drive/hourhand/Documents",
		Args:    cobra.ExactArgs(1),
	}
	f.bind(c.Flags())
	c.Flags().BoolVar(&adopt, "adopt", false, "take over a target that is not ours: equal files are kept, others moved to .hourhand/found")
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.source == "" || f.target == "" {
			return usagef("a job needs --source DIR and --target DIR")
		}
		job := newJob()
		job.Name = args[0]
		if err := f.put(c.Flags(), a.in, &job); err != nil {
			return err
		}
		return a.withBackend(c.Context(), func(b backend) error {
			if adopt {
				return a.saveJob(b.AdoptJob, job, asJSON)
			}
			return a.saveJob(b.SaveJob, job, asJSON)
		})
	}
	return c
}

func (a *app) jobsEditCommand() *cobra.Command {
	var f jobFlags
	var name string
	var disabled, asJSON bool
	c := &cobra.Command{
		Use:   "edit JOB",
		Short: "change a job: what the flags name, nothing else",
		Args:  cobra.ExactArgs(1),
	}
	f.bind(c.Flags())
	c.Flags().StringVar(&name, "name", "", "a new `name`")
	c.Flags().BoolVar(&disabled, "disabled", false, "no scheduled runs (--disabled=false: again)")
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		changes := false
		c.Flags().Visit(func(f *pflag.Flag) { changes = changes || f.Name != "data" && f.Name != "json" })
		if !changes {
			return usagef("nothing to change: name what is to change, such as --schedule")
		}
		return a.withBackend(c.Context(), func(b backend) error {
			job, err := b.Job(args[0])
			if err != nil {
				return err
			}
			job.Name = cmp.Or(name, job.Name)
			if c.Flags().Changed("disabled") {
				job.Disabled = disabled
			}
			if err := f.put(c.Flags(), a.in, &job); err != nil {
				return err
			}
			return a.saveJob(b.SaveJob, job, asJSON)
		})
	}
	return c
}

// saveJob saves and tells what a person should know about the job.
func (a *app) saveJob(save func(store.Job) (store.Job, []string, error), job store.Job, asJSON bool) error {
	saved, warnings, err := save(job)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		a.warnf("warning: %s", clean(w))
	}
	if asJSON {
		return printJSON(a.out, saved)
	}
	a.printf("saved: %s: %s -> %s, %s", saved.Name, clean(saved.Source), clean(saved.Target), scheduleText(saved))
	return nil
}

func scheduleText(j store.Job) string {
	switch {
	case j.Disabled:
		return "disabled"
	case j.Schedule == "":
		return "only by hand"
	default:
		return "at " + j.Schedule
	}
}

func (a *app) jobsListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "list", Short: "list the jobs", Args: cobra.NoArgs}
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withBackend(c.Context(), func(b backend) error {
			jobs, err := b.Jobs()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.out, append([]store.Job{}, jobs...))
			}
			t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			for _, j := range jobs {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", j.Name, scheduleText(j), clean(j.Source), clean(j.Target))
			}
			return t.Flush()
		})
	}
	return c
}

// shownJob is a job with what it leaves out although no line of it says so.
type shownJob struct {
	store.Job
	DefaultExcludes []string `json:"default_excludes"`
}

func (a *app) jobsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show JOB",
		Short: "print a job as JSON, with the patterns that are left out by default",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withBackend(c.Context(), func(b backend) error {
				j, err := b.Job(args[0])
				if err != nil {
					return err
				}
				shown := shownJob{Job: j, DefaultExcludes: exclude.Defaults}
				if j.NoDefaultExcludes {
					shown.DefaultExcludes = []string{}
				}
				return printIndented(a.out, shown)
			})
		},
	}
}

func printIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (a *app) jobsRemoveCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "remove JOB",
		Short: "forget a job and its history, and cancel its run; its folders stay as they are",
		Args:  cobra.ExactArgs(1),
	}
	c.Flags().BoolVar(&yes, "yes", false, "remove it without asking")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withBackend(c.Context(), func(b backend) error {
			j, err := b.Job(args[0])
			if err != nil {
				return err
			}
			if !yes && isTerminal(a.in) {
				a.printf("this cancels a run at work and deletes the job %s with its history; its copies stay in %s", clean(j.Name), clean(j.Target))
				fmt.Fprint(a.out, "remove it? [y/N] ")
				if agreed, err := a.agrees(c.Context()); err != nil || !agreed {
					return cmp.Or(err, ended(codeCancelled))
				}
			}
			if err := b.RemoveJob(j.ID); err != nil {
				return err
			}
			a.printf("removed: %s and its history; its copies stay in %s", clean(j.Name), clean(j.Target))
			return nil
		})
	}
	return c
}

func (a *app) jobsExportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "print all jobs as JSON, for jobs import",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withBackend(c.Context(), func(b backend) error {
				jobs, err := b.Jobs()
				if err != nil {
					return err
				}
				return printIndented(a.out, append([]store.Job{}, jobs...))
			})
		},
	}
}

func (a *app) jobsImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE|-",
		Short: "add the jobs of a jobs export; a job of the same id or name is replaced",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			jobs, err := a.readJobs(args[0])
			if err != nil {
				return err
			}
			return a.withBackend(c.Context(), func(b backend) error { return a.importJobs(b, jobs) })
		},
	}
}

func (a *app) readJobs(name string) ([]store.Job, error) {
	in := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, usagef("%v", err)
		}
		defer f.Close()
		in = f
	}
	var jobs []store.Job
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if err := d.Decode(&jobs); err != nil {
		return nil, usagef("%s is not what jobs export prints: %v", clean(name), err)
	}
	return jobs, nil
}

// importJobs saves each job that can be saved and tells of the others.
func (a *app) importJobs(b backend, jobs []store.Job) error {
	total := codeDone
	for _, j := range jobs {
		err := matchKnown(b, &j)
		if err == nil {
			err = a.saveJob(b.SaveJob, j, false)
		}
		if err != nil {
			a.warnf("hourhand: job %s: %s", clean(j.Name), cleanLines(explain(err)))
			total = worst(total, codeOf(err))
		}
	}
	return ended(total)
}

// matchKnown gives an imported job the id of the job here that it replaces.
func matchKnown(b backend, j *store.Job) error {
	for _, key := range []string{j.ID, j.Name} {
		if key == "" {
			continue
		}
		known, err := b.Job(key)
		if err == nil {
			j.ID = known.ID
			return nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// jsonFlag is --json of a command that prints one JSON value, or JSON lines.
func jsonFlag(c *cobra.Command, on *bool) {
	c.Flags().BoolVar(on, "json", false, "print JSON")
}
