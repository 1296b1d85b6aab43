package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// publishFile puts a staged file in place and records how it was proved.
func (r *run) publishFile(ctx context.Context, d *dest, p part, how index.How) error {
	if err := r.m.Gate.open(ctx); err != nil {
		return err
	}
	o := p.file.o
	if p.file.name != "" {
		if err := r.place(ctx, d, p.s.t.path, p.file.name, o); err != nil {
			return err
		}
		p.file.name = "" // it has its own name now
		d.countCopy(o.now, p.s.info.Size)
	}
	e := p.s.entryOf()
	e.How, e.Proved = how, r.started.Unix()
	if r.m.Mode == ModeChanges {
		e.Put, e.Seq = r.started.Unix(), d.before.Seals+1
	}
	if p.file.name == "" && p.file.f == nil && p.s.info.Kind == tree.File {
		e = p.file.entry // an anchor: its bytes were proved before
	} else if p.s.info.Kind == tree.File {
		d.countProved(how, p.s.info.Size)
	}
	members := r.linkMembers(ctx, d, p)
	now, err := d.statOf(p.file, p.s.t.path)
	if err != nil {
		d.fail(lostError(writeError(err))) // it was there a moment ago
		return nil
	}
	e.Target = stamp(now)
	if d.seen != nil {
		if err := d.seen.remember(sightOf(r.src.vol.StableIDs, p.s.info, p.s.t.path)); err != nil {
			return err
		}
	}
	for _, path := range append(members, p.s.t.path) {
		if err := d.record(path, e); err != nil {
			return spillError(err)
		}
	}
	return nil
}

// statOf is the stat of what was published, by handle where there is one.
func (d *dest) statOf(f *stagedFile, path string) (tree.Info, error) {
	if f.f != nil {
		return tree.FileInfo(f.f)
	}
	dir, name := split(path)
	in, done, err := d.folders.get(dir)
	if err != nil {
		return tree.Info{}, err
	}
	defer done()
	return in.Stat(name)
}

func (d *dest) countCopy(was tree.Info, n int64) {
	if was.Kind == tree.None {
		d.settle(&d.report.Copied, n)
	} else {
		d.settle(&d.report.Updated, n)
	}
}

func (d *dest) countProved(how index.How, n int64) {
	if c := d.report.Verified.of(how); c != nil {
		d.count(c, n)
	}
}

// of is where files that were proved like this are counted; nil: nowhere.
func (v *Verified) of(how index.How) *Count {
	switch how {
	case index.Device:
		return &v.Device
	case index.Cache:
		return &v.Cache
	case index.Server:
		return &v.Server
	case index.Source:
		return &v.Source
	}
	return nil
}

// place gives a staged file its name. What lies there gives way: for good if it
// is ours, else to found/.
func (r *run) place(ctx context.Context, d *dest, path, temp string, o *order) error {
	dir, name := split(path)
	in, done, err := d.folders.get(dir)
	if errors.Is(err, fs.ErrNotExist) {
		in, done, err = d.makeFolders(dir)
	}
	if err != nil {
		return writeErr(err)
	}
	defer done()
	if err := r.m.step("rename", path); err != nil {
		return writeErr(err)
	}
	step := func() error { return r.placeIn(ctx, d, in, name, path, temp, o) }
	if err := d.withRights(in, dir, step); err != nil {
		var known *fileError
		if errors.As(err, &known) {
			return err
		}
		return writeErr(err)
	}
	d.dirtied(dir)
	return spillError(d.touched.add(dir))
}

func (r *run) placeIn(ctx context.Context, d *dest, in *tree.Dir, name, path, temp string, o *order) error {
	absent := o.op == opAdd
	for range 5 { // somebody may put a file there, or take it away, between the look and the rename
		if absent {
			if err := d.stage.of(temp).RenameNew(temp, in, name); !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		now, err := in.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			absent = true
			continue
		case err != nil:
			return err
		case now.Kind == tree.Folder:
			return fileErr(CauseWrite, "a folder is in the way at the target")
		}
		mine, err := r.mine(ctx, d, path, o, now)
		if err != nil {
			return err
		}
		if mine {
			return d.stage.of(temp).Rename(temp, in, name)
		}
		if err := d.putAside(in, name, path); err != nil {
			return err
		}
	}
	return fileErr(CauseWrite, "another program keeps writing there at the target")
}

// mine tells whether what lies at the target is a copy of ours that may be
// replaced.
func (r *run) mine(ctx context.Context, d *dest, path string, o *order, now tree.Info) (bool, error) {
	switch {
	case !d.asSeen(o.now, now):
		return false, nil
	case o.owner == ours:
		return true, nil
	case o.owner == unclear && now.Kind == tree.File:
		hash, err := r.hashTarget(ctx, d, path)
		return err == nil && knows(&o.old, hash), err
	}
	return false, nil
}

// asSeen tells that an entry is still what the scan saw. The ctime of a file with
// several names moves when this run gives or takes one of them.
func (d *dest) asSeen(then, now tree.Info) bool {
	if then.Kind != now.Kind || then.Size != now.Size {
		return false
	}
	ours := then.Nlink != now.Nlink && then.Ino == now.Ino && then.MTime == now.MTime
	return ours || sameStamp(stamp(then), stamp(now), d.vol.StableIDs)
}

// makeFolders makes the folders above a file that no scan made: in mode
// changes, or where somebody removed them meanwhile.
func (d *dest) makeFolders(path string) (*tree.Dir, func(), error) {
	for at := 0; at <= len(path); at++ {
		if at < len(path) && path[at] != '/' {
			continue
		}
		if err := d.makeFolder(path[:at]); err != nil {
			return nil, nil, err
		}
		if err := d.touched.add(path[:at]); err != nil {
			return nil, nil, err
		}
	}
	return d.folders.get(path)
}

// lostError makes ErrLost of an error that leaves a target's writes in doubt.
func lostError(err error) error {
	if fatal(err) {
		return err
	}
	return fmt.Errorf("%w: nothing since its last good sync can be trusted: %w; check cable and drive", ErrLost, err)
}
