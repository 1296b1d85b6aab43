package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
	"github.com/hourhand/hourhand/web"
)

// Results of a check: in order, worth knowing, or keeping Hourhand from its work.
const (
	resultOK   = "ok"
	resultWarn = "warn"
	resultFail = "fail"
)

// check is one line of doctor: about what, and a sentence that tells what is
// wrong and what to do.
type check struct {
	Result string `json:"result"`
	About  string `json:"about"`
	Text   string `json:"text"`
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check folders, rights, space, clock, drives and target marks; exit code 1 if something needs you",
		Args:  cobra.NoArgs,
	}
	jsonFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := dataFolder(a.data)
		if err != nil {
			return err
		}
		checks := examine(c.Context(), dir, time.Now())
		if err := a.printChecks(checks, asJSON); err != nil {
			return err
		}
		for _, c := range checks {
			if c.Result == resultFail {
				return ended(codeFailed)
			}
		}
		return nil
	}
	return c
}

func (a *app) printChecks(checks []check, asJSON bool) error {
	if asJSON {
		return printJSON(a.out, checks)
	}
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, c := range checks {
		fmt.Fprintf(t, "%s\t%s\t%s\n", c.Result, clean(c.About), clean(c.Text))
	}
	return t.Flush()
}

// examination collects checks.
type examination struct{ checks []check }

func (e *examination) add(result, about, format string, args ...any) {
	e.checks = append(e.checks, check{result, about, fmt.Sprintf(format, args...)})
}

// examine makes all checks.
func examine(ctx context.Context, dir string, now time.Time) []check {
	e := &examination{}
	e.dataFolder(dir)
	jobs := e.database(ctx, dir)
	e.clock(dir, jobs, now)
	if len(jobs) == 0 {
		e.add(resultWarn, "jobs", "there are none; add one on the dashboard or with hourhand jobs add")
	}
	for _, j := range jobs {
		e.job(j)
	}
	e.autostart()
	e.platform()
	return e.checks
}

func (e *examination) dataFolder(dir string) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		e.add(resultOK, "data folder", "%s does not exist yet; the first start makes it", dir)
		return
	}
	f, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		e.add(resultFail, "data folder", "cannot be written, give yourself the right to: %v", err)
		return
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		e.add(resultFail, "data folder", "%v", err)
		return
	}
	e.add(resultOK, "data folder", "%s can be written", dir)
}

// database asks the running agent for the jobs, or opens the database itself;
// where there is none yet, it does not make one.
func (e *examination) database(ctx context.Context, dir string) []store.Job {
	client, err := web.Dial(dir)
	if err == nil {
		e.add(resultOK, "agent", "runs")
		return e.jobs(client)
	}
	e.add(resultWarn, "agent", "does not run, so nothing is copied by schedule; start it with hourhand agent")
	if _, err := os.Stat(filepath.Join(dir, "hourhand.db")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	h, err := openHere(ctx, dir)
	if err != nil {
		e.add(resultFail, "database", "%s", explain(err))
		return nil
	}
	if rebuilt := h.store.Rebuilt(); rebuilt != "" {
		e.add(resultWarn, "database", "%s", rebuilt)
	}
	jobs := e.jobs(h)
	if err := h.close(); err != nil {
		e.add(resultFail, "database", "%v", err)
	}
	return jobs
}

func (e *examination) jobs(b backend) []store.Job {
	jobs, err := b.Jobs()
	if err != nil {
		e.add(resultFail, "database", "%v", err)
		return nil
	}
	e.add(resultOK, "database", "opens; %s", plural(int64(len(jobs)), "job"))
	return jobs
}

// clockSlack is how far a file's time may be ahead before the clock is doubted:
// the 2 s grain of FAT, and network drives that are a little ahead.
const clockSlack = 2 * time.Minute

// clock compares the wall clock with the times that earlier work has left.
func (e *examination) clock(dir string, jobs []store.Job, now time.Time) {
	about := "clock"
	newest := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) // older than any release
	if info, err := os.Stat(filepath.Join(dir, "hourhand.db")); err == nil && info.ModTime().After(newest) {
		newest = info.ModTime()
	}
	for _, j := range jobs {
		hours, err := engine.Hours(j.Target)
		for _, h := range hours {
			if err == nil && h.To.After(newest) {
				newest = h.To
			}
		}
	}
	if now.Before(newest.Add(-clockSlack)) {
		e.add(resultFail, about, "says %s, but something was written at %s; set the clock, or schedules wait until it has caught up",
			now.Format(time.DateTime), newest.Local().Format(time.DateTime))
		return
	}
	e.add(resultOK, about, "%s", now.Format("2006-01-02 15:04:05 -07:00"))
}

// job checks what a run of a job needs, and what its drive can promise.
func (e *examination) job(j store.Job) {
	about := "job " + j.Name
	if err := engine.Check(engine.Mirror{
		Source: j.Source,
		Dests:  []engine.Dest{{Target: j.Target, Hour: 0}},
		Owner:  engine.Owner{JobID: j.ID},
	}); err != nil {
		e.add(resultFail, about, "%s", explain(err))
		return
	}
	e.add(resultOK, about, "source can be read, target is there and its own")
	drive, err := engine.DriveOf(j.Target)
	if err != nil {
		e.add(resultFail, about, "%v", err)
		return
	}
	e.drive(about, j, drive)
	e.space(about, j, drive)
}

func (e *examination) drive(about string, j store.Job, d engine.Drive) {
	if d.ReadOnly {
		e.add(resultFail, about, "the target's drive is read-only; it may be failing, or its switch is on")
	}
	if d.Durable != "" {
		e.add(resultWarn, about, "durability not provable on %s: %s", d.FileSystem, d.Durable)
	}
	if d.ID == "" {
		e.add(resultWarn, about, "the target's drive has no identity that can be read, so another one in its place is known only by its mark")
		return
	}
	if from, err := engine.DriveOf(j.Source); err == nil && from.ID == d.ID {
		e.add(resultWarn, about, "source and target are on the same drive: if it dies, both are gone")
	}
}

// space tells whether the hours that are not there yet will fit, each as large
// as the largest that is.
func (e *examination) space(about string, j store.Job, d engine.Drive) {
	hours, err := engine.Hours(j.Target)
	if err != nil {
		e.add(resultWarn, about, "its hours cannot be read: %v", err)
		return
	}
	var largest, written int64
	for _, h := range hours[:24] {
		if h.Content != engine.Empty {
			written++
		}
		largest = max(largest, h.Files.Bytes)
	}
	if need := largest * (24 - written); need > d.Free {
		e.add(resultWarn, about, "%s free; %s yet to be written may need %s", size(d.Free), plural(24-written, "hour"), size(need))
		return
	}
	e.add(resultOK, about, "%s of %s free on %s", size(d.Free), size(d.Total), d.FileSystem)
}

func (e *examination) autostart() {
	where, err := autostartWhere()
	switch {
	case err != nil:
		e.add(resultWarn, "autostart", "cannot be read: %v", err)
	case where == "":
		e.add(resultWarn, "autostart", "is off; hourhand autostart on starts the agent at each login")
	default:
		e.add(resultOK, "autostart", "%s", where)
	}
}

// platform tells what nobody has proved yet on this system.
func (e *examination) platform() {
	if runtime.GOOS == "linux" {
		e.add(resultOK, "platform", "power cuts were tried on ext4, xfs and btrfs")
		return
	}
	e.add(resultWarn, "platform", "what a power cut leaves was not tried on %s yet: the order of writes is the one that was proved on Linux", runtime.GOOS)
}
