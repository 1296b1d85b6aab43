package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// found is the folder for files that were not ours and had to give way.
const found = "found"

// foundFor is how long they are kept.
const foundFor = 30 * 24 * time.Hour

// putAside moves an entry of a copy to .hourhand/found/TIME-RUN/HH/path.
func (d *dest) putAside(in *tree.Dir, name, path string) error {
	at, err := d.foundFolder(parent(path))
	if err != nil {
		return fmt.Errorf("make room for a file that is not ours: %w", err)
	}
	defer at.Close()
	to := name
	for n := 2; ; n++ {
		err := in.RenameNew(name, at, to)
		if !errors.Is(err, fs.ErrExist) {
			if err == nil {
				d.foundOne()
			}
			return err
		}
		to = fmt.Sprintf("%d~%s", n, name)
		if len(to) > 255 {
			to = to[:255]
		}
	}
}

// foundFolder opens the place for what a folder of the copy gives up.
func (d *dest) foundFolder(path string) (*tree.Dir, error) {
	steps := []string{found, d.foundName(), d.slot}
	if path != "" {
		steps = append(steps, strings.Split(path, "/")...)
	}
	at := d.own
	for _, name := range steps {
		sub, err := subMake(at, name)
		if at != d.own {
			at.Close()
		}
		if err != nil {
			return nil, err
		}
		at = sub
	}
	return at, nil
}

// foundOne keeps one note with the number of files put aside.
func (d *dest) foundOne() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.foundN++
}

// noteFound tells how many files were put aside.
func (d *dest) noteFound() {
	if d.foundN > 0 {
		d.note("%d files in the copy were not Hourhand's, or were edited there: they lie in %s/%s/%s/%s for 30 days", d.foundN, own, found, d.foundName(), d.slot)
	}
}

const foundTime = "20060102T150405Z"

func (d *dest) foundName() string {
	return d.report.Started.UTC().Format(foundTime) + "-" + d.report.RunID
}

// sweepFound removes what was put aside more than 30 days ago. The folders carry
// the time in their names, so that no clock of a drive counts.
func (d *dest) sweepFound(now time.Time) {
	dir, err := d.own.Sub(found)
	if err != nil {
		return
	}
	defer dir.Close()
	names, err := dir.Names()
	if err != nil {
		return
	}
	for _, n := range names {
		stamp, _, _ := strings.Cut(n, "-")
		made, err := time.Parse(foundTime, stamp)
		if err == nil && now.Sub(made) > foundFor {
			if err := removeAll(dir, n); err != nil {
				d.note("old files in %s/%s could not be removed: %v", own, found, err)
			}
		}
	}
}
