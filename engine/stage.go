package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// staged is one file or link, ready in the staging folders of the destinations
// that need it.
type staged struct {
	t        *task
	info     tree.Info // of the source as it was read
	hash     [16]byte
	read     time.Time
	unstable bool
	files    []stagedFile
}

// stagedFile is the part of one destination.
type stagedFile struct {
	d     *dest
	o     *order
	name  string   // in d.stage; "" for an anchor: the file is in place already
	f     *os.File // nil for links and anchors
	entry index.Entry
}

// process stages the tasks that next yields, several at once, and publishes
// them in batches. next is called by one goroutine at a time; ready tells that it
// would not wait.
func (r *run) process(ctx context.Context, next func() (*task, bool, error), ready func() bool) error {
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := newBatcher(ctx, r)
	var wg sync.WaitGroup
	var turn sync.Mutex
	for range r.workers() {
		wg.Go(func() {
			if r.m.Profile == ProfileGentle {
				background()
			}
			for ctx.Err() == nil {
				turn.Lock()
				ts, ok, err := several(next, ready)
				turn.Unlock()
				if err == nil && len(ts) > 0 {
					err = r.inTurn(ctx, ts, b.in)
				}
				if err != nil {
					cancel(err)
				}
				if !ok {
					return
				}
			}
		})
	}
	wg.Wait()
	close(b.in)
	<-b.done
	if err := outer.Err(); err != nil {
		return err // whatever the cause that the caller gave: it was cancelled
	}
	return context.Cause(ctx)
}

// severalAtOnce bounds the tasks that one worker takes at once: enough to read
// small files together, few enough to leave some for the others.
const severalAtOnce = 32

// several takes a task, and with a small file those that are there already, up to
// the first that is not small. ok false: there are no more behind them.
func several(next func() (*task, bool, error), ready func() bool) (ts []*task, ok bool, err error) {
	for len(ts) < severalAtOnce {
		t, ok, err := next()
		if !ok || err != nil {
			return ts, ok, err
		}
		if ts = append(ts, t); t.src.Size >= tree.Small || !ready() {
			break
		}
	}
	return ts, true, nil
}

// inTurn works on tasks when the governor lets one more file into work.
func (r *run) inTurn(ctx context.Context, ts []*task, out chan<- *staged) error {
	if err := r.gov.Enter(ctx); err != nil {
		return context.Cause(ctx)
	}
	defer r.gov.Leave()
	e := r.readEarly(ctx, ts)
	defer e.close()
	for _, t := range ts {
		if err := r.do(ctx, t, out); err != nil {
			return err
		}
	}
	return nil
}

// do works on one task. Trouble with its file is recorded; an error is for the
// whole run.
func (r *run) do(ctx context.Context, t *task, out chan<- *staged) error {
	r.meter.at(t.path)
	s, err := r.stage(ctx, t)
	switch {
	case ctx.Err() != nil:
		s.discard()
		return context.Cause(ctx)
	case err != nil:
		s.discard()
		r.failed(t, err)
		return nil
	case s == nil:
		return nil
	}
	select {
	case out <- s:
		return nil
	case <-ctx.Done():
		s.discard()
		return context.Cause(ctx)
	}
}

// failed settles a task that could not be done: a further try for what is
// likely to pass, else a problem.
func (r *run) failed(t *task, err error) {
	if transient(err) && t.tries < r.m.Retries {
		t.tries++
		r.retryMu.Lock()
		r.retries = append(r.retries, t)
		r.retryMu.Unlock()
		return
	}
	r.failedAt(t, err)
}

// failedAt settles every name of a task as a problem.
func (r *run) failedAt(t *task, err error) {
	for _, o := range t.orders {
		r.settleFailed(o.dest, t.path, err)
	}
	for _, m := range t.members {
		for _, o := range m.orders {
			r.settleFailed(o.dest, m.path, err)
		}
	}
}

// settleFailed settles one name at one destination. That a file vanished after
// it was listed is no problem: the next run sees it gone.
func (r *run) settleFailed(dest int, path string, err error) {
	d := r.dests[dest]
	d.settledN.Add(1)
	if !errors.Is(err, errVanished) {
		r.trouble(d, path, err)
	}
	if d.seen != nil {
		d.seen.missed.Store(true)
	}
	if err := r.pin(d, path); err != nil {
		r.trouble(d, path, writeErr(err))
	}
}

// pin makes the idx say what really lies at a path that this run wanted to write
// and could not: an interrupted run may have put it there, or somebody removed it.
func (r *run) pin(d *dest, path string) error {
	dir, name := split(path)
	in, done, err := d.folders.get(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return d.drop(path)
	}
	if err != nil {
		return err
	}
	defer done()
	now, err := in.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d.drop(path)
	}
	old := d.oldEntry(path)
	if err != nil || now.Kind != tree.File || old.Flags&(index.NextToo|index.Partial) == 0 {
		return err
	}
	hash, err := r.hashTarget(context.Background(), d, path)
	if err != nil {
		return err
	}
	return d.record(path, index.Entry{Kind: tree.File, Flags: index.Racy, How: index.Cache, Size: now.Size, Hash: hash, Target: stamp(now), Proved: r.started.Unix()})
}

// stage makes a task's temp files. nil without an error: nothing is left to do.
func (r *run) stage(ctx context.Context, t *task) (*staged, error) {
	t.orders = r.begun(t.orders)
	if len(t.orders) == 0 {
		return nil, nil
	}
	if t.src.Kind == tree.Link {
		return r.stageLink(t)
	}
	if err := r.m.step("open", t.path); err != nil {
		return nil, readErr(err)
	}
	f, info, err := r.openSource(t)
	if err != nil {
		return nil, readErr(err)
	}
	defer f.Close()
	if t.anchored {
		if s, ok, err := r.stageAnchor(ctx, t, f, &info); ok || err != nil {
			return s, err
		}
	}
	if err := r.check(ctx, t, f, &info); err != nil {
		return nil, err
	}
	if len(t.orders) == 0 {
		return nil, nil
	}
	return r.copy(ctx, t, f, info)
}

// openSource opens the source of a task, unless that was done already.
func (r *run) openSource(t *task) (*os.File, tree.Info, error) {
	if t.early != nil {
		return t.early.f, t.early.info, nil
	}
	return openAt(r.sources, t.path)
}

// begun makes the destinations ready for changes and drops those that are out.
func (r *run) begun(orders []order) []order {
	live := orders[:0]
	for _, o := range orders {
		d := r.dests[o.dest]
		if d.alive() {
			if err := r.begin(d); err != nil {
				d.fail(err)
			}
		}
		if d.alive() {
			live = append(live, o)
		}
	}
	return live
}

// stageLink makes a symbolic link in the staging folders.
func (r *run) stageLink(t *task) (s *staged, err error) {
	dir, name := split(t.path)
	in, done, err := r.sources.get(dir)
	if err != nil {
		return nil, readErr(err)
	}
	defer done()
	to, err := in.Readlink(name)
	if err != nil {
		return nil, readErr(err)
	}
	s = &staged{t: t, info: t.src, read: time.Now()}
	for i := range t.orders {
		o := &t.orders[i]
		d := r.dests[o.dest]
		file := stagedFile{d: d, o: o, name: r.tempName()}
		if err := r.makeLink(file, t, to, pointsToFolder(in, name)); err != nil {
			file.discard()
			r.failed(t.only(o.dest), err)
			continue
		}
		s.files = append(s.files, file)
	}
	return s, nil
}

func (r *run) makeLink(file stagedFile, t *task, to string, folder bool) error {
	if !file.d.caps.Links {
		return fileErr(CauseName, "the target's file system holds no links")
	}
	if err := r.m.step("symlink", t.path); err != nil {
		return writeErr(err)
	}
	if err := file.d.stage.of(file.name).Symlink(to, file.name, folder); err != nil {
		return writeErr(err)
	}
	lost, err := file.d.stage.of(file.name).SetLink(file.name, t.src)
	file.d.lose(lost)
	return writeErr(err)
}

// pointsToFolder tells whether a link leads to a folder: Windows makes two kinds.
func pointsToFolder(in *tree.Dir, name string) bool {
	info, err := in.Stat(name)
	return err == nil && info.Attr&attrDirectory != 0
}

// attrDirectory is FILE_ATTRIBUTE_DIRECTORY.
const attrDirectory = 0x10

// tempName is short and the same for all files, so that no name becomes too long
// by it.
func (r *run) tempName() string { return strconv.FormatUint(r.serial.Add(1), 36) }

// discard removes what was staged. It may be called on nil.
func (s *staged) discard() {
	if s == nil {
		return
	}
	for i := range s.files {
		s.files[i].discard()
	}
}

func (f *stagedFile) discard() {
	if f.f != nil {
		f.f.Close()
		f.f = nil
	}
	if f.name != "" {
		if err := f.d.stage.of(f.name).Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.d.note("a staged file could not be removed: %v", err)
		}
		f.name = ""
	}
}

// need makes sure that n more bytes fit, before they are staged, with a reserve
// for what proves the copy.
func (t *target) need(n int64) error {
	if left := t.room.Add(-n); left > reserve {
		return nil
	}
	v, err := t.root.Volume()
	if err != nil {
		return writeErr(fmt.Errorf("look at the drive of %s: %w", t.dir, err))
	}
	t.room.Store(v.Free - n)
	if v.Free-n < reserve {
		return fmt.Errorf("%w: %d bytes are free on the drive of %s and a file of %d is next; free some space, or choose a larger drive", ErrNoSpace, v.Free, t.dir, n)
	}
	return nil
}

// reserve stays free on a target for manifest, idx and state: about 150 bytes a
// file, so enough for 50,000 files; more of them meet ENOSPC in the seal, which
// loses nothing either.
const reserve = 8 << 20
