package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// trySpare is what must stay free on the drive for temporary files beside the
// copies: the manifest, the index and the database of a try are far smaller.
const trySpare = 64_000_000

func (a *app) tryCommand() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use:   "try [FOLDER]",
		Short: "see it work: make a verified copy of FOLDER, or of a sample, in a scratch folder, and show it on the dashboard",
		Args:  cobra.MaximumNArgs(1),
	}
	c.Flags().BoolVar(&keep, "keep", false, "do not remove the scratch folder at the end")
	c.RunE = func(c *cobra.Command, args []string) error {
		scratch, err := os.MkdirTemp("", "hourhand-try-")
		if err != nil {
			return err
		}
		t := trial{app: a, scratch: scratch, keep: keep}
		if len(args) > 0 {
			t.source = args[0]
		}
		err = t.run(c.Context())
		if keep {
			a.printf("kept: %s", scratch)
			return err
		}
		return errors.Join(err, removeScratch(scratch))
	}
	return c
}

// trial is one call of try: source, target and data folder in one scratch
// folder, which is removed with everything in it.
type trial struct {
	*app
	scratch string
	source  string // "" until the sample is made
	keep    bool
}

func (t *trial) run(ctx context.Context) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	s, err := openService(filepath.Join(t.scratch, "data"), "", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return s.run(ctx, func(ctx context.Context) error { return t.show(ctx, s) })
}

// prepare finds or makes the source, after it made sure that the drive has the
// space.
func (t *trial) prepare(ctx context.Context) error {
	need := int64(2 * sampleBytes) // the sample and its copy
	if t.source != "" {
		var err error
		if t.source, err = absolute(t.source); err != nil {
			return err
		}
		if need, err = folderSize(ctx, t.source); err != nil {
			return fmt.Errorf("%w: %w", engine.ErrNoSource, err)
		}
	}
	drive, err := engine.DriveOf(t.scratch)
	if err != nil {
		return err
	}
	if drive.Free < need+trySpare {
		return fmt.Errorf("%w: %s has %s free, this needs %s; set TMPDIR to a folder on another drive",
			engine.ErrNoSpace, clean(t.scratch), size(drive.Free), size(need+trySpare))
	}
	if t.source == "" {
		t.source = filepath.Join(t.scratch, "source")
		err = writeSample(t.source)
	}
	return err
}

// folderSize is how many bytes the files below a folder have; what cannot be
// read will be a problem of the run, not of this estimate.
func folderSize(ctx context.Context, root string) (total int64, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if path == root && err != nil {
			return err
		}
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		return ctx.Err()
	})
	return total, err
}

// show makes the copy and serves the dashboard on it until ctx ends.
func (t *trial) show(ctx context.Context, s *service) error {
	b := &here{Agent: s.agent, store: s.store, begin: func() {}}
	job := newJob()
	job.Name, job.Source, job.Target = "Try", t.source, filepath.Join(t.scratch, "target")
	saved, _, err := s.agent.SaveJob(job)
	if err != nil {
		return err
	}
	t.printf("copying %s, and reading every file back ...", clean(t.source))
	run, err := b.Start(saved.ID, presentHour)
	if err != nil {
		return err
	}
	result := t.follow(ctx, b, run, false)
	if c := codeOf(result); c != codeDone && c != codeProblems {
		return result
	}
	if err := t.explain(s, run); err != nil {
		return err
	}
	if hasDisplay() {
		go openBrowser(s.web.OpenURL())
	}
	go t.newAddresses(s) // lives as long as the process
	<-ctx.Done()
	return result
}

// explain says where everything is and how to check it without us.
func (t *trial) explain(s *service, run string) error {
	r, err := s.store.Run(run)
	if err != nil {
		return err
	}
	hour := fmt.Sprintf("%02d", r.Hour)
	copied := filepath.Join(t.scratch, "target", hour)
	t.printf("")
	t.printf("the source    %s", clean(t.source))
	t.printf("the copy      %s (plain files; open them with anything)", clean(copied))
	if r.Outcome == store.Done || r.Outcome == store.Partial {
		t.printf("check it      %s", clean(checkLine(copied, "../.hourhand/"+hour+".xxh128")))
	}
	t.printf("the dashboard %s", s.web.OpenURL())
	t.printf("              (good for 30 seconds; press Enter for a new address)")
	if t.keep {
		t.printf("Ctrl-C ends this and keeps %s", clean(t.scratch))
	} else {
		t.printf("Ctrl-C ends this and removes %s", clean(t.scratch))
	}
	return nil
}

// newAddresses prints a fresh address of the dashboard for each line that is
// typed: each is good for one browser only.
func (t *trial) newAddresses(s *service) {
	lines := bufio.NewScanner(t.in)
	for lines.Scan() {
		t.printf("the dashboard %s", s.web.OpenURL())
	}
}

// removeScratch removes a scratch folder, also where a copy has the modes of a
// source that nobody may write into.
func removeScratch(dir string) error {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}
