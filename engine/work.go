package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// work is the order of one run, after its guards. Each step is only begun when
// the one before it is over; what makes that safe stands in the README.
func (r *run) work(ctx context.Context) error {
	if len(r.dests) == 0 {
		return nil
	}
	if err := r.scanAndCopy(ctx); err != nil {
		return err
	}
	for _, t := range r.targets {
		t.brake.judge(&r.m, r.meter.files.Load())
	}
	if err := r.copyRest(ctx, len(r.swaps.paths) == 0); err != nil {
		return err
	}
	r.meter.enter("removing")
	if err := r.eachDest(func(d *dest) error { return r.clear(ctx, d) }); err != nil {
		return err
	}
	if err := r.swapped(ctx); err != nil {
		return err
	}
	r.meter.enter("sealing")
	return r.eachDest(func(d *dest) error { return r.seal(ctx, d) })
}

// scanAndCopy compares and copies at once: the first file is copied after the
// first folder was compared.
func (r *run) scanAndCopy(ctx context.Context) error {
	r.meter.enter("copying")
	scanned := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		err := r.scanner.scan(ctx, r.scanner.root())
		if err == nil {
			r.meter.known.Store(true)
		} else {
			cancel()
		}
		scanned <- err
		r.tasks.Done()
	}()
	err := r.process(ctx, spilled(r.tasks), r.tasks.Ready)
	if err != nil {
		cancel()
	}
	if scanErr := <-scanned; scanErr != nil && !(err != nil && errors.Is(scanErr, context.Canceled)) {
		return scanErr
	}
	return err
}

// spilled makes a queue's records the tasks of process.
func spilled(q *index.Spill) func() (*task, bool, error) {
	return func() (*task, bool, error) {
		rec, ok, err := q.Next()
		if err != nil || !ok {
			return nil, false, spillError(err)
		}
		t, err := decodeTask(rec)
		return t, err == nil, err
	}
}

// copyRest does what had to wait for the end of the scan: replacements that the
// guard lets through, files with several names once all names are known, and
// further tries.
func (r *run) copyRest(ctx context.Context, allNames bool) error {
	r.late.Done()
	if err := r.process(ctx, r.passing(spilled(r.late)), r.late.Ready); err != nil {
		return err
	}
	if allNames {
		if err := r.copyGroups(ctx); err != nil {
			return err
		}
	}
	return r.tryAgain(ctx)
}

// passing leaves out the orders of destinations whose replacements are held.
func (r *run) passing(next func() (*task, bool, error)) func() (*task, bool, error) {
	return func() (*task, bool, error) {
		for {
			t, ok, err := next()
			if err != nil || !ok {
				return nil, false, err
			}
			t.orders = slices.DeleteFunc(t.orders, func(o order) bool { return o.op == opReplace && r.dests[o.dest].brake.holdReplacement })
			if len(t.orders) > 0 {
				return t, true, nil
			}
		}
	}
}

func (r *run) copyGroups(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	groups, ended := make(chan *task), make(chan error, 1)
	go func() {
		defer close(groups)
		ended <- r.eachGroup(func(t *task) bool {
			select {
			case groups <- t:
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	err := r.process(ctx, r.passing(func() (*task, bool, error) {
		t, ok := <-groups
		return t, ok, nil
	}), oneByOne)
	cancel()
	return errors.Join(err, <-ended)
}

// tryAgain gives files that failed for a reason that passes another chance,
// after everything else and a rest.
func (r *run) tryAgain(ctx context.Context) error {
	for len(r.retries) > 0 {
		select {
		case <-time.After(r.m.RetryWait):
		case <-ctx.Done():
			return ctx.Err()
		}
		again := r.retries
		r.retries = nil
		err := r.process(ctx, func() (*task, bool, error) {
			if len(again) == 0 {
				return nil, false, nil
			}
			t := again[0]
			again = again[1:]
			return t, true, nil
		}, oneByOne)
		if err != nil {
			return err
		}
	}
	return nil
}

// oneByOne is for tasks that shall not be read together.
func oneByOne() bool { return false }

// eachDest does a step for every destination that is still in the run; one that
// fails is out, the others go on. The error is the run's own end.
func (r *run) eachDest(step func(*dest) error) error {
	for _, d := range r.dests {
		if !d.alive() {
			continue
		}
		err := step(d)
		if cancelled(err) {
			return err
		}
		if err != nil {
			d.fail(err)
		}
	}
	return nil
}

// clear makes all copies durable, looks at both drives once more, and only then
// removes what the source does not have, if the guard lets it.
func (r *run) clear(ctx context.Context, d *dest) error {
	if err := r.stillThere(d); err != nil {
		return err
	}
	if d.brake.holdRemoval {
		return nil
	}
	if d.begun.Load() {
		if err := r.barrier(ctx, d); err != nil {
			return err
		}
	}
	if r.m.Mode == ModeChanges {
		if err := r.expire(d); err != nil {
			return err
		}
	}
	return r.remove(ctx, d)
}

// stillThere checks that both sides are the folders and drives of the start.
func (r *run) stillThere(d *dest) error {
	if err := errors.Join(d.still(), d.stillCopy()); err != nil {
		return err
	}
	now, err := openSource(r.m.Source)
	if err != nil {
		return err
	}
	defer now.close()
	if now.info.Dev != r.src.info.Dev || now.info.Ino != r.src.info.Ino {
		return errors.Join(ErrNoSource, errors.New(r.src.path+" is no longer the folder or drive that the run began with"))
	}
	return nil
}

// stillCopy checks that the hour's folder is the one that was opened.
func (d *dest) stillCopy() error {
	if d.Hour == OneShot || d.folders.root == nil {
		return nil
	}
	at, err := d.root.Sub(d.slot)
	if err != nil {
		return fmt.Errorf("%w: the folder of hour %s: %w", ErrLost, d.slot, err)
	}
	defer at.Close()
	a, errA := at.Info()
	b, errB := d.folders.root.Info()
	if errA != nil || errB != nil || a.Dev != b.Dev || a.Ino != b.Ino {
		return fmt.Errorf("%w: the folder of hour %s was replaced while the run worked; nothing is sealed", ErrLost, d.slot)
	}
	return nil
}

// swapped visits again where a folder stood against something else: the way is
// free now.
func (r *run) swapped(ctx context.Context) error {
	if len(r.swaps.paths) == 0 {
		return nil
	}
	var places []place
	for path, dests := range r.swaps.paths {
		dir, name := split(path)
		p := place{path: dir, source: there, at: slices.Repeat([]side{out}, len(r.dests)), only: name}
		for i, d := range r.dests {
			if dests[d] && d.alive() && !d.brake.holdRemoval {
				p.at[i] = there
			}
		}
		places = append(places, p)
	}
	r.renew()
	err := r.scanner.scan(ctx, places...)
	r.tasks.Done()
	if err != nil {
		return err
	}
	if err := r.process(ctx, spilled(r.tasks), r.tasks.Ready); err != nil {
		return err
	}
	return r.copyRest(ctx, true)
}

// renew replaces the queues of the first pass, which are done.
func (r *run) renew() {
	r.tasks.Close()
	r.late.Close()
	r.tasks, r.late = index.NewSpill(r.m.Scratch), index.NewSpill(r.m.Scratch)
}

// setFolders gives the folders that were made or touched their metadata, deepest
// first.
func (r *run) setFolders(d *dest) error {
	for path := range d.touched.all() {
		if err := r.setFolder(d, path); err != nil {
			if err = writeErr(err); fatal(err) {
				return err
			}
			r.trouble(d, path, err)
		}
	}
	return spillError(d.touched.s.Err())
}

func (r *run) setFolder(d *dest, path string) error {
	if err := r.m.step("folder", path); err != nil {
		return err
	}
	in, release, err := d.folders.get(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, tree.ErrNotFolder) {
		return nil // removed, or replaced, since it was touched
	}
	if err != nil {
		return err
	}
	defer release()
	src, done, err := r.sources.get(path)
	if err != nil {
		return errors.Join(d.recordFolder(path, in, tree.Info{}), sourceGone(err))
	}
	defer done()
	info, err := src.Info()
	if err != nil {
		return errors.Join(d.recordFolder(path, in, tree.Info{}), readErr(err))
	}
	set := info
	if path == "" {
		set.Attr = 0 // a drive's root is hidden and system on Windows; the hour's folder must be seen
	}
	lost, err := tree.SetFolder(in, src, set)
	if err != nil {
		return err
	}
	d.lose(lost)
	return d.recordFolder(path, in, info)
}

// recordFolder puts a folder of the copy into the idx.
func (d *dest) recordFolder(path string, in *tree.Dir, src tree.Info) error {
	now, err := in.Info()
	if err != nil || path == "" {
		return err
	}
	return d.record(path, index.Entry{Kind: tree.Folder, Source: stamp(src), Target: stamp(now)})
}

// sourceGone is no error for a folder that is being removed, or is only the copy's.
func sourceGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, tree.ErrNotFolder) {
		return nil
	}
	return readErr(err)
}
