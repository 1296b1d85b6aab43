package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/record"
	"github.com/hourhand/hourhand/engine/tree"
)

// This file is what a run does at once with what its scan finds (see sink).

func (r *run) entry(t *task) error {
	for i := range t.orders {
		if t.orders[i].op != opReplace || r.dests[t.orders[i].dest].free() {
			continue
		}
		t.orders[i].op |= waits
	}
	now, later := t.parted()
	if now != nil {
		r.meter.copyAll.Add(now.src.Size)
		if err := r.tasks.Put(now.encode()); err != nil {
			return spillError(err)
		}
	}
	if later != nil {
		return r.wait(later)
	}
	return nil
}

// waits marks an order that must wait for the guard's word.
const waits op = 0x80

// parted divides a task into what may be done now and what must wait.
func (t *task) parted() (now, later *task) {
	var a, b []order
	for _, o := range t.orders {
		if o.op&waits != 0 {
			o.op &^= waits
			b = append(b, o)
		} else {
			a = append(a, o)
		}
	}
	if len(a) > 0 {
		now = &task{path: t.path, src: t.src, orders: a, tries: t.tries}
	}
	if len(b) > 0 {
		later = &task{path: t.path, src: t.src, orders: b, tries: t.tries}
	}
	return now, later
}

// wait puts a task's replacements off until the guard has spoken.
func (r *run) wait(t *task) error {
	r.lateN.Add(1)
	r.meter.copyAll.Add(t.src.Size)
	return spillError(r.late.Put(t.encode()))
}

// free tells whether a replacement may go on before the end of the scan.
func (d *dest) free() bool {
	switch {
	case d.brake.ref == nil && !d.brake.blind:
		return true
	case d.before.LastRun.Outcome == Held, d.before.Content != Sealed && d.before.Content != Empty:
		return false // else fifty more would go with each try
	}
	return d.replaced.Add(1) <= freely
}

func spillError(err error) error {
	if err != nil {
		return fmt.Errorf("keep a list in the data folder: %w", err)
	}
	return nil
}

func (r *run) linked(t *task) error {
	return spillError(r.links.Add(inodeKey(t), t.encode()))
}

// folder makes a folder that is missing, at once: it is needed for what is in
// it. Its metadata come at the end.
func (r *run) folder(d *dest, path string, now tree.Info) error {
	if r.m.Mode == ModeChanges {
		return nil // made with the first file that goes into it
	}
	if now.Kind != tree.None {
		return d.touched.add(path)
	}
	if err := r.begin(d); err != nil {
		d.fail(err)
		return nil
	}
	if path != "" {
		err := r.m.step("mkdir", path)
		if err == nil {
			err = d.makeFolder(path)
		}
		if err != nil {
			if err = writeErr(err); fatal(err) {
				d.fail(err)
				return nil
			}
			r.trouble(d, path, err)
			return errSkip
		}
	}
	return d.touched.add(path)
}

// begin is dest.begin with a step for tests before it.
func (r *run) begin(d *dest) error {
	if !d.begun.Load() {
		if err := r.m.step("begin", d.slot); err != nil {
			return writeError(err)
		}
	}
	return d.begin()
}

// makeFolder makes one folder of the copy, private until the end of the run
// gives it its mode.
func (d *dest) makeFolder(path string) error {
	dir, name := split(path)
	in, done, err := d.folders.get(dir)
	if err != nil {
		return err
	}
	defer done()
	err = d.withRights(in, dir, func() error { return in.Mkdir(name) })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		d.dirtied(dir)
		err = d.touched.add(dir)
	}
	return err
}

// dirtied notes that a folder's entries changed since the last sync.
func (d *dest) dirtied(path string) {
	if d.vol.GroupSync {
		return // one sync of the file system covers all
	}
	d.mu.Lock()
	d.dirty[path] = true
	d.mu.Unlock()
}

// withRights runs a step in a folder of ours; where the folder's own mode (0555)
// forbids it, the mode is opened until the end of the run sets it again.
func (d *dest) withRights(in *tree.Dir, path string, step func() error) error {
	err := step()
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	info, e := in.Info()
	if e != nil {
		return err
	}
	if info.Mode&0o300 != 0o300 { // else another worker has just opened it
		info.Mode |= 0o700
		if _, e := tree.SetFolder(in, in, info); e != nil {
			return err
		}
		if e := d.touched.add(path); e != nil {
			return e
		}
	}
	return step()
}

func (r *run) extra(d *dest, path string, now tree.Info, o owner) error {
	rec := appendInfo([]byte{byte(o)}, now)
	return spillError(d.extras.Add(deepestFirst(path), record.AppendString(rec, path)))
}

// swaps are the places to visit again after the removals.
type swaps struct {
	mu    sync.Mutex
	paths map[string]map[*dest]bool
}

func (r *run) swap(d *dest, path string) error {
	r.swaps.mu.Lock()
	defer r.swaps.mu.Unlock()
	if r.swaps.paths == nil {
		r.swaps.paths = map[string]map[*dest]bool{}
	}
	if r.swaps.paths[path] == nil {
		r.swaps.paths[path] = map[*dest]bool{}
	}
	r.swaps.paths[path][d] = true
	return nil
}

// recase gives an entry the source's spelling on a volume that takes both for
// one, by way of a third name.
func (r *run) recase(d *dest, dir, have, want string) error {
	err := r.begin(d)
	if err == nil {
		err = d.recase(dir, have, want)
	}
	if err = writeErr(err); fatal(err) {
		d.fail(err)
		return nil
	}
	if err != nil {
		r.trouble(d, join(dir, want), err)
	}
	return nil
}

func (d *dest) recase(dir, have, want string) error {
	in, done, err := d.folders.get(dir)
	if err != nil {
		return err
	}
	defer done()
	d.folders.forget(join(dir, have))
	third := have + "~hourhand"
	if err := in.RenameNew(have, in, third); err != nil {
		return err
	}
	if err := in.Rename(third, in, want); err != nil {
		return errors.Join(err, in.Rename(third, in, have))
	}
	d.dirtied(dir)
	return errors.Join(d.touched.add(dir), d.drop(join(dir, have)))
}

// adopted records an entry that equals its source by stat.
func (r *run) adopted(d *dest, path string, src, now tree.Info, old *index.Entry) error {
	e := index.Entry{Kind: src.Kind, Size: src.Size, Source: stamp(src), Target: stamp(now)}
	if src.Kind == tree.File && old != nil {
		// an interrupted run put it there; its times may hide a later change
		e.Hash, e.How, e.Proved, e.Flags = old.Hash, old.How, old.Proved, index.Racy
		if e.Proved == 0 {
			e.Proved = r.started.Unix()
		}
	}
	return d.record(path, e)
}

// gone forgets an entry that neither side has. The manifest must follow.
func (r *run) gone(d *dest, dir, name string) error {
	if err := r.begin(d); err != nil {
		d.fail(err)
		return nil
	}
	return d.drop(join(dir, name))
}

func (r *run) trouble(d *dest, path string, err error) {
	if fatal(err) {
		d.fail(err)
		return
	}
	r.meter.problems.Add(1)
	if d.seen != nil {
		d.seen.missed.Store(true)
	}
	d.trouble(path, err)
}
