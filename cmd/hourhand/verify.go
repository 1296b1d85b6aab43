package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/engine"
)

type verifyFlags struct {
	hour   string
	all    bool
	repair bool
	json   bool
}

func (a *app) verifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify JOB|TARGET",
		Short: "read every byte of an hour back and compare it with its manifest (default: the newest sealed hour)",
		Long: `Read every byte of an hour back, past the cache, and compare it with its
manifest. JOB is a job's name; TARGET is a folder that holds .hourhand, of a job
or of a mirror. Exit code 8: files are rotten, missing or cannot be read; 3: files
were edited or added.`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&f.hour, "hour", "", "the hour `HH`, 00 to 23")
	c.Flags().BoolVar(&f.all, "all", false, "all hours")
	c.Flags().BoolVar(&f.repair, "repair", false, "heal rot from the source or from another hour that has the right bytes")
	jsonFlag(c, &f.json)
	c.MarkFlagsMutuallyExclusive("hour", "all")
	c.RunE = func(c *cobra.Command, args []string) error {
		isTarget, err := holdsMark(args[0])
		if err != nil {
			return err
		}
		if isTarget {
			return a.verifyTarget(c.Context(), args[0], f)
		}
		if info, err := os.Stat(args[0]); err == nil && info.IsDir() && strings.ContainsRune(args[0], os.PathSeparator) {
			return usagef("%s holds no .hourhand: it is no target of Hourhand, nor the name of a job", clean(args[0]))
		}
		return a.verifyJob(c.Context(), args[0], f)
	}
	return c
}

// holdsMark tells whether a path is a target: a folder with .hourhand in it.
func holdsMark(path string) (bool, error) {
	info, err := os.Stat(filepath.Join(path, ".hourhand"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}

// verifyTarget reads hours of a folder back, in this process.
func (a *app) verifyTarget(ctx context.Context, path string, f verifyFlags) error {
	path, err := absolute(path)
	if err != nil {
		return err
	}
	mark, err := engine.ReadTarget(path)
	if err != nil {
		return err
	}
	hours, err := chooseHours(path, f)
	if err != nil {
		return err
	}
	total := codeDone
	for _, hour := range hours {
		h := engine.Hour{Dest: engine.Dest{Target: path, Hour: hour}, Source: mark.Source, Repair: f.repair}
		c, err := a.verifyHour(ctx, h, f.json)
		if err != nil {
			return err
		}
		total = worst(total, c)
	}
	return ended(total)
}

func (a *app) verifyHour(ctx context.Context, h engine.Hour, asJSON bool) (code, error) {
	d := a.progress(asJSON, false)
	audit, err := engine.Verify(ctx, h, d.show)
	d.end()
	if err != nil {
		return codeOf(err), err
	}
	if asJSON {
		return auditCode(audit), printJSON(a.out, auditLineOf(audit))
	}
	a.printAudit(audit)
	return auditCode(audit), nil
}

// chooseHours are the hours that the flags name, of those that a target holds.
func chooseHours(target string, f verifyFlags) ([]int, error) {
	if f.hour != "" {
		h, err := parseHour(f.hour)
		return []int{h}, err
	}
	states, err := engine.Hours(target)
	if err != nil {
		return nil, err
	}
	var all []int
	newest := -1
	for i, s := range states {
		if s.Content == engine.Empty {
			continue
		}
		all = append(all, s.Hour)
		if s.Content == engine.Sealed && (newest < 0 || s.To.After(states[newest].To)) {
			newest = i
		}
	}
	switch {
	case f.all && len(all) > 0:
		return all, nil
	case newest >= 0:
		return []int{states[newest].Hour}, nil
	default:
		return nil, fmt.Errorf("nothing to verify: no hour of %s is sealed", clean(target))
	}
}

// verifyJob has the agent read hours of a job back.
func (a *app) verifyJob(ctx context.Context, job string, f verifyFlags) error {
	hours, err := parseHours(f.hour) // nil: the newest sealed one
	if err != nil {
		return err
	}
	return a.withBackend(ctx, func(b backend) error {
		if f.all {
			if hours, err = writtenHours(b, job); err != nil {
				return err
			}
		}
		run, err := b.Verify(job, hours, f.repair)
		if err != nil {
			return err
		}
		return a.follow(ctx, b, run, f.json)
	})
}

// writtenHours are those that a job's board says hold something.
func writtenHours(b backend, job string) ([]int, error) {
	s, err := jobStatus(b, job)
	if err != nil {
		return nil, err
	}
	var hours []int
	for h, field := range s.Board {
		if field.Content != "" {
			hours = append(hours, h)
		}
	}
	return hours, nil
}

// auditLine is engine.Audit as --json prints it.
type auditLine struct {
	Type        string          `json:"type"` // "audit"
	Target      string          `json:"target"`
	Hour        int             `json:"hour"` // -1: a mirror without hours
	Content     engine.Content  `json:"content"`
	Equal       engine.Count    `json:"equal"`
	Rot         int64           `json:"rot"`
	Healed      int64           `json:"healed"`
	Edited      int64           `json:"edited"`
	Missing     int64           `json:"missing"`
	Extra       int64           `json:"extra"`
	Unreadable  int64           `json:"unreadable"`
	Interrupted bool            `json:"interrupted"`
	Verified    engine.Verified `json:"verified"`
	Found       []finding       `json:"found"`
	FoundCount  int64           `json:"found_count"`
	Seconds     float64         `json:"seconds"`
}

type finding struct {
	problem
	Finding engine.Finding `json:"finding"`
}

func auditLineOf(a engine.Audit) auditLine {
	line := auditLine{
		Type: "audit", Target: a.Target, Hour: a.Hour, Content: a.Content, Equal: a.Equal,
		Rot: a.Rot, Healed: a.Healed, Edited: a.Edited, Missing: a.Missing, Extra: a.Extra,
		Unreadable: a.Unreadable, Interrupted: a.Interrupted, Verified: a.Verified,
		Found: []finding{}, FoundCount: a.FoundCount, Seconds: seconds(a.Started, a.Ended),
	}
	for _, f := range a.Found {
		line.Found = append(line.Found, finding{problemOf(f.Path, f.Detail, ""), f.Finding})
	}
	return line
}

// auditCode is the exit code of a verification: what was healed is right again,
// what cannot be read is as bad as what is rotten.
func auditCode(a engine.Audit) code {
	switch {
	case a.Rot > 0 || a.Missing > 0 || a.Unreadable > 0:
		return codeMismatch
	case a.Edited > 0 || a.Extra > 0 || a.Interrupted:
		return codeProblems
	default:
		return codeDone
	}
}

func (a *app) printAudit(v engine.Audit) {
	name := clean(v.Target)
	if v.Hour >= 0 {
		name = fmt.Sprintf("%s, hour %02d", name, v.Hour)
	}
	a.printf("%s: %s equal", name, amount(v.Equal))
	if bad := join([]part{
		{v.Rot, "rotten"}, {v.Healed, "healed"}, {v.Missing, "missing"}, {v.Edited, "edited"},
		{v.Extra, "extra"}, {v.Unreadable, "unreadable"},
	}); bad != "" {
		a.printf("  %s", bad)
	}
	if v.Interrupted {
		a.printf("  the hour is being written, or a run of it was interrupted: each file was judged by what it was and what it was becoming")
	}
	for i, f := range v.Found {
		if i == shownProblems {
			break
		}
		a.printf("  %s: %s %s", f.Finding, clean(f.Path), clean(f.Detail))
	}
	if more := v.FoundCount - int64(min(len(v.Found), shownProblems)); more > 0 {
		a.printf("  and %s more; --json lists them", count(more))
	}
	if how := proof(v.Verified); how != "" {
		a.printf("  verified: %s", how)
	}
	a.printf("  %s", span(v.Ended.Sub(v.Started)))
}
