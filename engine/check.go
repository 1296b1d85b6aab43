package engine

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// check settles the orders of a task whose stat does not tell: contents decide.
// What turns out equal is mended and recorded, what differs becomes a
// replacement, under the same guard as any other.
func (r *run) check(ctx context.Context, t *task, f *os.File, info *tree.Info) error {
	if !slices.ContainsFunc(t.orders, func(o order) bool { return o.op == opCheck }) {
		return nil
	}
	source, err := r.hashOnce(ctx, t, f, info)
	if err != nil {
		return err
	}
	var rest []order
	for _, o := range t.orders {
		if o.op == opCheck {
			next, err := r.checkOne(ctx, t, o, f, *info, source)
			if err != nil {
				r.failed(t.only(o.dest), err)
				continue
			}
			o = next
		}
		if o.op != 0 {
			rest = append(rest, o)
		}
	}
	return r.readmit(t, rest)
}

// hashOnce reads the source if an order of the task really asks for its bytes;
// nil: none does.
func (r *run) hashOnce(ctx context.Context, t *task, f *os.File, info *tree.Info) (*[16]byte, error) {
	asked := false
	for i := range t.orders {
		o := &t.orders[i]
		if o.op == opCheck && !r.unaffordable(o, *info) {
			asked = true
		} else if o.op == opCheck {
			o.put = true
		}
	}
	if !asked {
		return nil, nil
	}
	hash, err := r.hashSource(ctx, f, t.path, info)
	return &hash, err
}

// unaffordable tells that an order asks for a comparison only because ctime or
// file id changed, and the run has compared enough of those.
func (r *run) unaffordable(o *order, info tree.Info) bool {
	if r.m.Checksum || o.owner != ours || o.old.Flags&(index.Racy|index.Unstable|index.NextToo) != 0 {
		return false
	}
	return info.Size == o.old.Size && info.MTime == o.old.Source.MTime && r.budget.Add(-info.Size) < 0
}

// checkOne compares one copy. op 0 in the result: settled.
func (r *run) checkOne(ctx context.Context, t *task, o order, f *os.File, info tree.Info, hash *[16]byte) (order, error) {
	d := r.dests[o.dest]
	if o.put {
		_, err := r.settleEqual(t, &o, f, info, o.old.Hash, index.Racy)
		o.op = 0
		return o, err
	}
	source := *hash
	have, err := r.hashOfCopy(ctx, d, t.path, &o)
	if err != nil {
		return o, err
	}
	switch {
	case have == source:
		_, err := r.settleEqual(t, &o, f, info, source, 0)
		o.op = 0
		return o, err
	case r.rotten(&o, info):
		return o, errRotten
	}
	o.op = opReplace
	return o, nil
}

// errRotten is the problem of a file whose source lost bytes.
var errRotten = fileErr(CauseRot, "the source's bytes changed although its size and times did not: its drive may be failing. The good copy stays; save the file anew to accept what it holds now")

// rotten tells that bytes which differ cannot be an edit of the source's.
func (r *run) rotten(o *order, info tree.Info) bool {
	return o.owner == ours && o.old.Flags&(index.Racy|index.Unstable|index.NextToo|index.Partial) == 0 && r.unmoved(info, &o.old)
}

// unmoved tells that no part of a source's stat changed since it was recorded.
func (r *run) unmoved(info tree.Info, old *index.Entry) bool {
	return r.src.vol.StableIDs && info.Size == old.Size && sameStamp(stamp(info), old.Source, true)
}

// hashOfCopy tells what bytes are at the target, from idx if it knows, and so
// whose they are.
func (r *run) hashOfCopy(ctx context.Context, d *dest, path string, o *order) (have [16]byte, err error) {
	if o.owner == ours && o.old.Flags&index.NextToo == 0 {
		return o.old.Hash, nil
	}
	have, err = r.hashTarget(ctx, d, path)
	if err != nil {
		return have, err
	}
	o.owner = strange
	if knows(&o.old, have) {
		o.owner = ours
	}
	return have, nil
}

// readmit puts replacements that a comparison found under the guard.
func (r *run) readmit(t *task, orders []order) error {
	for i := range orders {
		o := &orders[i]
		if o.op != opReplace || o.old.Kind != tree.File {
			continue
		}
		d := r.dests[o.dest]
		if d.brake.ref != nil && t.src.Size == o.old.Size && t.src.MTime == o.old.Source.MTime {
			d.brake.change(t.path, t.src.Size) // the scan could not see this one
		}
		if !d.free() && !r.m.Yes && !d.brake.judged {
			o.op |= waits
		}
	}
	rest := task{path: t.path, src: t.src, orders: orders, tries: t.tries}
	now, later := rest.parted()
	t.orders = nil
	if now != nil {
		t.orders = now.orders
	}
	if later != nil {
		return r.wait(later)
	}
	return nil
}

// settleEqual gives an equal copy the source's metadata where they differ, and
// records it. more are flags for the idx.
func (r *run) settleEqual(t *task, o *order, f *os.File, info tree.Info, hash [16]byte, more uint8) (e index.Entry, err error) {
	d := r.dests[o.dest]
	copied, now, err := openAt(d.folders, t.path)
	if err != nil {
		return e, writeErr(err)
	}
	defer copied.Close()
	lost, err := tree.SetFile(copied, f, info)
	if err == nil {
		now, err = tree.FileInfo(copied)
	}
	if err != nil {
		return e, writeErr(err)
	}
	d.lose(lost)
	e = o.old
	e.Kind, e.Size, e.Hash, e.Source, e.Target = tree.File, info.Size, hash, stamp(info), stamp(now)
	if e.Flags = more; racy(info.MTime, time.Now()) {
		e.Flags |= index.Racy
	}
	if e.Proved == 0 {
		e.How, e.Proved = index.Cache, r.started.Unix()
	}
	d.settle(&d.report.Unchanged, info.Size)
	if d.seen != nil {
		if err := d.seen.remember(sightOf(r.src.vol.StableIDs, info, t.path)); err != nil {
			return e, err
		}
	}
	return e, d.record(t.path, e)
}

// hashSource reads a source file, and again if it changes meanwhile.
func (r *run) hashSource(ctx context.Context, f *os.File, path string, info *tree.Info) (sum [16]byte, err error) {
	for range readings {
		sum, err = r.hashAll(ctx, f, path, info.Size)
		if err != nil {
			return sum, err
		}
		after, err := tree.FileInfo(f)
		if err != nil {
			return sum, readErr(err)
		}
		same := r.steady(*info, after)
		*info = after
		if same {
			return sum, nil
		}
	}
	return sum, fileErr(CauseChanged, "it changed each of the %d times it was read", readings)
}

// hashTarget reads what lies at a path of the copy.
func (r *run) hashTarget(ctx context.Context, d *dest, path string) (sum [16]byte, err error) {
	f, info, err := openAt(d.folders, path)
	if err != nil {
		return sum, writeErr(err)
	}
	defer f.Close()
	sum, err = r.hashAll(ctx, f, path, info.Size)
	var read *fileError
	if errors.As(err, &read) {
		return sum, fileErr(CauseWrite, "the copy cannot be read: %w", read.err)
	}
	return sum, err
}

// knows tells whether an entry has a hash on record.
func knows(e *index.Entry, hash [16]byte) bool {
	return e.Kind == tree.File && (e.Hash == hash || e.Flags&index.NextToo != 0 && e.NextHash == hash)
}
