package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hourhand/hourhand/engine"
)

// race is one bench at work.
type race struct {
	source, target room // the same place, unless --to names another folder
	same           bool // both lie on one file system
	works          []work
	cases          []runner
	rounds         int
	cold           *cooler
	notify         func(Progress)
	at             Progress
}

// open checks the folders, removes leftovers, settles the size and makes the
// places. After an error nothing is left.
func (r *race) open(o *Options) (removed []string, err error) {
	folders := []string{o.Dir, cmp.Or(o.To, o.Dir)}
	for i, dir := range folders {
		if folders[i], err = checkFolder(dir); err != nil {
			return nil, err
		}
	}
	if err := twoFolders(o.To, folders); err != nil {
		return nil, err
	}
	for _, dir := range slices.Compact(slices.Clone(folders)) {
		swept, err := sweep(dir)
		if removed = append(removed, swept...); err != nil {
			return nil, err
		}
	}
	if r.source, err = look(folders[0]); err != nil {
		return nil, err
	}
	if r.target, err = look(folders[1]); err != nil {
		return nil, err
	}
	r.same = r.source.device == r.target.device
	if err := r.fit(o); err != nil {
		return nil, err
	}
	if r.source.place, err = newPlace(folders[0]); err != nil {
		return nil, err
	}
	r.target.place = r.source.place
	if folders[0] != folders[1] {
		if r.target.place, err = newPlace(folders[1]); err != nil {
			return nil, errors.Join(err, r.source.remove())
		}
	}
	r.at.Places = slices.Compact([]string{r.source.path, r.target.path})
	return removed, nil
}

// twoFolders refuses a folder for the copies that is the one of the source, also
// by another path.
func twoFolders(to string, folders []string) error {
	if to == "" {
		return nil
	}
	a, err := os.Stat(folders[0])
	if err != nil {
		return err
	}
	b, err := os.Stat(folders[1])
	if err == nil && os.SameFile(a, b) {
		err = refusef(engine.ErrUsage, "--dir and --to are the same folder, %s; leave out --to to measure one drive, or name a folder on a second one", folders[0])
	}
	return err
}

// fit chooses a size where none is given, and refuses one that does not fit.
func (r *race) fit(o *Options) error {
	if o.Size > 0 {
		return r.refuse(o.Size)
	}
	o.Size = DefaultSize
	err := r.refuse(o.Size)
	for err != nil && o.Size/2 >= smallestChosen {
		o.Size /= 2
		err = r.refuse(o.Size)
	}
	return err
}

func (r *race) refuse(size int64) error {
	d := demandOf(r.works, size)
	if r.same {
		return r.source.refuse(d, 2, size)
	}
	return errors.Join(r.source.refuse(d, 1, size), r.target.refuse(d, 1, size))
}

func (r *race) close() error {
	err := r.source.remove()
	if r.target.place != r.source.place {
		err = errors.Join(err, r.target.remove())
	}
	return err
}

// tell reports the next step, and what was written before it.
func (r *race) tell(work, name string, round int) {
	r.at.Work, r.at.Case, r.at.Round = work, name, round
	if r.notify != nil {
		r.notify(r.at)
	}
}

// run times every case on every tree, one tree after the other, and puts what it
// learns into res.
func (r *race) run(ctx context.Context, size int64, res *Result) error {
	plans := make([][]file, len(r.works))
	for i, w := range r.works {
		plans[i] = w.files(size)
		bytes, folders := sum(plans[i])
		res.Works = append(res.Works, Work{w.name, int64(len(plans[i])), folders, bytes})
		r.at.Total += bytes * int64(1+len(r.cases)*r.rounds)
	}
	for _, c := range r.cases {
		res.Cases = append(res.Cases, c.Case)
	}
	res.note(r.target.doubt)
	for i, w := range r.works {
		if err := r.runWork(ctx, w, plans[i], res); err != nil {
			return err
		}
	}
	return nil
}

func (r *race) runWork(ctx context.Context, w work, files []file, res *Result) (err error) {
	bytes, _ := sum(files)
	r.tell(w.name, "", 0)
	if err := w.write(ctx, r.source.source(), files); err != nil {
		return r.explainFull(fmt.Errorf("make the files: %w", err))
	}
	defer func() { err = errors.Join(err, r.source.clear(sourceName)) }()
	if err := flush(ctx, r.source.source()); err != nil {
		return err
	}
	r.at.Done += bytes
	for round := 1; round <= r.rounds; round++ {
		for _, i := range order(len(r.cases), round) {
			c := &res.Cases[i]
			if c.Failed != "" {
				r.at.Done += bytes
				continue
			}
			r.tell(w.name, c.Title(), round)
			yielded := func() { c.Yielded = true }
			took, err := r.time(ctx, r.cases[i], files, yielded, res)
			if err != nil && (r.cases[i].ours() || ctx.Err() != nil || errors.Is(err, engine.ErrNoSpace) || errors.Is(err, ErrStays)) {
				return fmt.Errorf("%s: %w", c.Title(), err)
			}
			if err != nil {
				c.Failed = err.Error()
				res.LeftOut = append(res.LeftOut, fmt.Sprintf("%s: %v", c.Name, err))
			} else {
				c.add(w.name, took)
			}
			r.at.Done += bytes
		}
	}
	return nil
}

// order is A B C in odd rounds and C B A in even ones: what drifts (a drive that
// warms up, a file system that fragments) is charged to all cases alike.
func order(cases, round int) []int {
	o := make([]int, cases)
	for i := range o {
		o[i] = i
	}
	if round%2 == 0 {
		slices.Reverse(o)
	}
	return o
}

// time runs one case on the tree, from a cold source into a fresh target.
func (r *race) time(ctx context.Context, c runner, files []file, yielded func(), res *Result) (took time.Duration, err error) {
	defer func() {
		err = r.explainFull(err) // before the removal makes room
		// The removal of this copy is not to be charged to the next case.
		err = errors.Join(err, r.target.clear(copyName), flush(ctx, r.target.path))
	}()
	if err := r.cold.cool(ctx, r.source.source()); err != nil {
		return 0, err
	}
	start := time.Now()
	err = c.run(ctx, job{from: r.source.source(), to: r.target.copy(), note: res.note, yielded: yielded, verified: &res.Verified})
	took = time.Since(start)
	if err != nil {
		return took, err
	}
	return took, compare(ctx, files, r.target.copy())
}

// explainFull names a full drive as the cause of an error: a tool only says that
// it failed.
func (r *race) explainFull(err error) error {
	if err == nil || errors.Is(err, engine.ErrNoSpace) {
		return err
	}
	if now, looked := look(r.target.path); looked == nil && now.free < 1_000_000 {
		return becameFull(err)
	}
	return outOfSpace(err)
}

// compare proves that a case did its work: each planned file is there in its
// size, and no other. The clock has stopped.
func compare(ctx context.Context, files []file, root string) error {
	for _, f := range files {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(f.path)))
		if err != nil {
			return fmt.Errorf("it made no whole copy: %w", err)
		}
		if !info.Mode().IsRegular() || info.Size() != f.size {
			return fmt.Errorf("it made no whole copy: %s has %d bytes, want %d", f.path, info.Size(), f.size)
		}
	}
	found := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == ".hourhand" {
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() {
			found++
		}
		return errors.Join(err, ctx.Err())
	})
	if err == nil && found != len(files) {
		err = fmt.Errorf("it made %d files of %d", found, len(files))
	}
	return err
}
