package agent

import (
	"context"
	"fmt"
	"io/fs"
	"math/bits"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/hourhand/hourhand/engine/exclude"
	"github.com/hourhand/hourhand/store"
)

// patience is how long a person who saves a job waits for the size of its source.
const patience = 2 * time.Second

// warnings tell what a person may want to know of a job that was saved. A drive
// that does not answer gives none.
func (a *Agent) warnings(j store.Job) (warnings []string) {
	target, err := a.engine.drive(j.Target)
	if err != nil {
		return nil
	}
	source, err := a.engine.drive(j.Source)
	if err == nil && source.ID != "" && source.ID == target.ID {
		warnings = append(warnings, "source and target are on the same drive: if it fails, both are lost")
	}
	if target.Durable != "" {
		warnings = append(warnings, "on the target's drive it cannot be proved that copies survive a power cut: "+target.Durable)
	}
	if j.Mode == modeChanges {
		return warnings
	}
	size, whole := measure(j)
	if w := a.tooMuch(j, size, whole, target.Free); w != "" {
		warnings = append(warnings, w)
	}
	return warnings
}

// tooMuch is the warning that a job's copies will not fit, "" if they will.
func (a *Agent) tooMuch(j store.Job, size int64, whole bool, free int64) string {
	copies := int64(24)
	if s, err := ParseSchedule(j.Schedule); err == nil && s.spec != nil {
		copies = int64(bits.OnesCount64(s.spec.Hour << 1)) // without the mark of a star
	}
	need := copies * size
	if board, err := a.config.Store.Board(j.ID); err == nil {
		for _, hour := range board {
			need -= hour.Files.Bytes // takes its place already
		}
	}
	if need <= free {
		return ""
	}
	soFar := ""
	if !whole {
		soFar = " (counted so far)"
	}
	return fmt.Sprintf("%d copies of %s%s will not fit: they need %s, and %s are free on the target's drive",
		copies, humanize.Bytes(uint64(size)), soFar, humanize.Bytes(uint64(need)), humanize.Bytes(uint64(free)))
}

// measure adds up the files that a job would copy, for as long as patience
// lasts; whole tells that it saw all. A source that does not answer is left to
// its goroutine.
func measure(j store.Job) (size int64, whole bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var sum atomic.Int64
	all := make(chan error, 1)
	go func() { all <- addUp(ctx, j, &sum) }() // ends with ctx, or when its drive answers
	select {
	case err := <-all:
		return sum.Load(), err == nil
	case <-ctx.Done():
		return sum.Load(), false
	}
}

func addUp(ctx context.Context, j store.Job, sum *atomic.Int64) error {
	patterns := j.Excludes
	if !j.NoDefaultExcludes {
		patterns = append(exclude.Defaults[:len(exclude.Defaults):len(exclude.Defaults)], patterns...)
	}
	rules, err := exclude.Compile(patterns)
	if err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(j.Source)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, path)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || relErr != nil || rel == ".":
			return nil // what cannot be read is not counted
		}
		if out, _ := rules.Out(filepath.ToSlash(rel), d.IsDir()); out {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum.Add(info.Size())
		}
		return nil
	})
}
