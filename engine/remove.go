package engine

import (
	"context"
	"errors"
	"io/fs"

	"github.com/hourhand/hourhand/engine/manifest"
	"github.com/hourhand/hourhand/engine/tree"
)

// removal is an entry of a copy that the source does not have.
type removal struct {
	path  string
	owner owner
	now   tree.Info
}

// removalsAtOnce is how many removals share one sync of their intents.
const removalsAtOnce = 4096

// remove takes what the source does not have out of a copy, deepest first, after
// everything else: intents first, then through opened folders only.
func (r *run) remove(ctx context.Context, d *dest) error {
	var some []removal
	for _, rec := range d.extras.Sorted() {
		dec := decode(rec)
		x := removal{owner: owner(dec.Byte()), now: dec.info(), path: dec.String()}
		if dec.Err != nil {
			return spillError(dec.Err)
		}
		if some = append(some, x); len(some) == removalsAtOnce {
			if err := r.removeSome(ctx, d, some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	if err := d.extras.Err(); err != nil {
		return spillError(err)
	}
	return r.removeSome(ctx, d, some)
}

func (r *run) removeSome(ctx context.Context, d *dest, some []removal) error {
	if len(some) == 0 {
		return nil
	}
	if err := r.begin(d); err != nil {
		return err
	}
	var lines []manifest.Line
	for _, x := range some {
		if x.now.Kind == tree.File {
			lines = append(lines, manifest.Line{Path: x.path, Remove: true})
		}
	}
	if err := d.next.add(lines); err != nil {
		return writeError(err)
	}
	if err := r.barrier(ctx, d); err != nil {
		return err
	}
	for _, x := range some {
		if err := r.m.Gate.open(ctx); err != nil {
			return err
		}
		if err := r.removeOne(ctx, d, x); err != nil {
			if err = writeErr(err); fatal(err) {
				return err
			}
			r.trouble(d, x.path, err)
		}
	}
	return nil
}

func (r *run) removeOne(ctx context.Context, d *dest, x removal) error {
	if err := r.m.step("remove", x.path); err != nil {
		return err
	}
	dir, name := split(x.path)
	in, done, err := d.folders.get(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return d.drop(x.path) // its folder is gone already
	}
	if err != nil {
		return err
	}
	defer done()
	now, err := in.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.drop(x.path)
	case err != nil:
		return err
	case now.Kind != x.now.Kind:
		return fileErr(CauseChanged, "it became a %s at the target while the run worked; it is left as it is", kindName(now.Kind))
	}
	if err := d.withRights(in, dir, func() error { return r.takeOut(ctx, d, in, name, x, now) }); err != nil {
		return err
	}
	d.dirtied(dir)
	return d.touched.add(dir)
}

// takeOut removes an entry that is ours and puts aside what is not.
func (r *run) takeOut(ctx context.Context, d *dest, in *tree.Dir, name string, x removal, now tree.Info) error {
	if now.Kind == tree.Folder {
		d.folders.forget(x.path)
		if err := in.Rmdir(name); errors.Is(err, fs.ErrExist) {
			return nil // what excludes protect, or new files, still lie in it
		} else if err != nil {
			return err
		}
		return d.drop(x.path)
	}
	o := order{owner: x.owner, now: x.now}
	if x.owner == unclear {
		o.old = d.oldEntry(x.path)
	}
	mine, err := r.mine(ctx, d, x.path, &o, now)
	if err != nil {
		return err
	}
	if !mine {
		err = d.putAside(in, name, x.path)
	} else if err = in.Remove(name); err == nil && now.Kind == tree.File {
		d.count(&d.report.Removed, now.Size)
	}
	if err != nil {
		return err
	}
	return d.drop(x.path)
}
