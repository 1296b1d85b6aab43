package engine

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/manifest"
	"github.com/hourhand/hourhand/engine/tree"
)

// sourceEntry looks at one entry of the source.
func (v *visit) sourceEntry(name string) error {
	path := join(v.path, name)
	if path == own {
		v.leave(func(l *LeftOut) { l.Excluded++ })
		v.noteAll("a folder " + own + " at the top of the source is left out: that name is Hourhand's own")
		v.keep()
		return nil
	}
	info, err := v.src.Stat(name)
	if err == nil {
		err = v.m.step("stat", path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.keep() // vanished since it was listed: nothing of it is removed in this run
		return nil
	case err != nil:
		v.keep()
		v.troubleAll(path, readErr(err))
		return nil
	}
	if isOut, _ := v.rules.Out(path, info.Kind == tree.Folder); isOut {
		v.leave(func(l *LeftOut) { l.Excluded++ })
		if !v.m.DeleteExcluded {
			v.keep()
		}
		return nil
	}
	switch info.Kind {
	case tree.Special:
		v.leave(func(l *LeftOut) { l.Special++ })
		return nil
	case tree.Folder:
		return v.sourceFolder(path, name, info)
	}
	return v.sourceFile(path, name, info)
}

// keep protects the present name, in every copy, from removal by this run.
func (v *visit) keep() { v.marks[v.now] |= kept }

func (v *visit) noteAll(text string) {
	for _, d := range v.dests {
		d.note("%s", text)
	}
}

// sourceFolder sends a folder of the source to be visited.
func (v *visit) sourceFolder(path, name string, info tree.Info) error {
	v.keep()
	v.referenceFolder(name)
	child := place{path: path, source: there, at: make([]side, len(v.dests)), known: make([]*index.Entry, len(v.dests))}
	some := false
	for i, d := range v.dests {
		child.at[i] = out
		if v.at[i] == out || !d.alive() {
			continue
		}
		now, ok, err := v.copyInfo(i, name)
		if err != nil {
			return err
		}
		switch {
		case !ok:
			continue
		case now.Kind == tree.Folder:
			child.at[i], some = there, true
			if e := v.copies[i].old.Find(name); e != nil {
				known := *e // not the whole folder's entries
				child.known[i] = &known
			}
		case now.Kind == tree.None:
			child.at[i], some = absent, true
		default:
			if err := v.swapFor(i, path, name, now); err != nil {
				return err
			}
		}
	}
	if some {
		return v.push(child)
	}
	return nil
}

// swapFor has what lies where a folder or a file belongs removed, and the place
// visited again after it.
func (v *visit) swapFor(i int, path, name string, now tree.Info) error {
	d := v.dests[i]
	if v.only != "" {
		v.sink.trouble(d, path, fileErr(CauseWrite, "a %s is in the way at the target and could not be moved", kindName(now.Kind)))
		return nil
	}
	old := v.copies[i].old.Find(name)
	if err := v.sink.extra(d, path, now, v.compare[i].ownerOf(now, old)); err != nil {
		return err
	}
	if now.Kind == tree.Folder {
		at := v.sides(out)
		at[i] = there
		if err := v.push(place{path: path, source: absent, at: at}); err != nil {
			return err
		}
	}
	return v.sink.swap(d, path)
}

// sourceFile compares a file or link with every copy.
func (v *visit) sourceFile(path, name string, info tree.Info) error {
	v.marks[v.now] |= kept | wanted
	if v.only == "" {
		v.meter.found(info.Size)
	}
	v.referenceFile(path, name, info)
	t := &task{path: path, src: info}
	for i, d := range v.dests {
		if v.at[i] == out || !d.alive() {
			continue
		}
		if err := v.orderFor(i, t, name); err != nil {
			return err
		}
	}
	if v.m.Mode == ModeMirror && info.Kind == tree.File && info.Nlink > 1 {
		return v.sink.linked(t)
	}
	work := t.orders[:0]
	for _, o := range t.orders {
		if o.op != 0 {
			work = append(work, o)
		}
	}
	if t.orders = work; len(work) == 0 {
		return nil
	}
	return v.sink.entry(t)
}

// orderFor adds to a task what destination i needs. Files with several names get
// an order even where nothing is to be done, since their names are judged together.
func (v *visit) orderFor(i int, t *task, name string) error {
	d := v.dests[i]
	d.seenN.Add(1)
	now, ok, err := v.copyInfo(i, name)
	if err != nil || !ok {
		d.settledN.Add(1) // its problem was reported
		return err
	}
	old := v.copies[i].old.Find(name)
	verdict := v.compare[i].file(t.src, now, old)
	if d.seen != nil {
		if verdict, err = d.seen.judge(v.compare[i], t.src, now, old, t.path); err != nil {
			return err
		}
	}
	if verdict.swap {
		d.settledN.Add(1) // it is seen and settled once more when the way is free
		return v.swapFor(i, t.path, name, now)
	}
	if verdict.adopt {
		if verdict, err = v.adopt(i, t, name, now, old, verdict); err != nil {
			return err
		}
	}
	multi := t.src.Kind == tree.File && t.src.Nlink > 1 && v.m.Mode == ModeMirror
	if verdict.op == 0 && !multi {
		d.settle(&d.report.Unchanged, t.src.Size)
		return nil
	}
	o := order{dest: i, op: verdict.op, owner: verdict.owner, now: now}
	if old != nil {
		o.old = *old
	}
	t.orders = append(t.orders, o)
	return nil
}

// adopt settles what stat alone could not say and needs no copy.
func (v *visit) adopt(i int, t *task, name string, now tree.Info, old *index.Entry, is verdict) (verdict, error) {
	d := v.dests[i]
	if t.src.Kind == tree.Link {
		a, errA := v.src.Readlink(name)
		b, errB := "", error(nil)
		if v.copies[i].dir != nil {
			b, errB = v.copies[i].dir.Readlink(name)
		}
		if errA != nil || errB != nil || a != b || !tree.SameMeta(t.src, now, d.caps) {
			return verdict{op: opReplace, owner: is.owner}, nil
		}
	}
	return verdict{}, v.sink.adopted(d, t.path, t.src, now, old)
}

// copyInfo is the stat of an entry of copy i; Kind None: not there. ok false:
// the entry cannot be judged for this copy, which was reported.
func (v *visit) copyInfo(i int, name string) (now tree.Info, ok bool, err error) {
	d, l, path := v.dests[i], v.copies[i], join(v.path, name)
	if why := tree.NameError(name, d.vol); why != "" {
		v.sink.trouble(d, path, fileErr(CauseName, "the target cannot hold this name: %s", why))
		return now, false, nil
	}
	if len(path) > manifest.MaxPath {
		v.sink.trouble(d, path, fileErr(CauseName, "its path has %d bytes, and a manifest can list %d at most: move it up some folders", len(path), manifest.MaxPath))
		return now, false, nil
	}
	if l.folded != nil {
		if ok, err := v.unfold(i, name); !ok || err != nil {
			return now, false, err
		}
	}
	if !l.has(name) {
		return now, true, l.names.Err()
	}
	if l.trusted {
		return trustedInfo(l.old.Find(name)), true, nil
	}
	if err = v.m.step("stat copy", path); err == nil {
		now, err = l.dir.Stat(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tree.Info{}, true, nil
	case err != nil:
		if e := writeError(err); fatal(e) {
			d.fail(e)
		}
		v.sink.trouble(d, path, fileErr(CauseWrite, "the copy cannot be looked at; it is left as it is: %w", err))
		return now, false, nil
	}
	return now, true, nil
}

// unfold sees to names that the target's volume takes for one: the second of
// two in the source is a problem, a copy under another spelling gets the new one.
func (v *visit) unfold(i int, name string) (ok bool, err error) {
	d, l := v.dests[i], v.copies[i]
	key := tree.Fold(name, d.caps)
	if v.seen[i] == nil {
		v.seen[i] = map[string]bool{}
	}
	if v.seen[i][key] {
		v.sink.trouble(d, join(v.path, name), fileErr(CauseName, "the target takes this name and another one in the folder for the same; rename one of them"))
		return false, nil
	}
	v.seen[i][key] = true
	have, there := l.folded[key]
	if !there || have == name {
		return true, nil
	}
	if d.caps.Lowers {
		v.listAs(i, have, name)
		return true, nil
	}
	if err := v.sink.recase(d, v.path, have, name); err != nil {
		return false, err
	}
	v.listAs(i, have, name)
	return true, nil
}

// listAs lists an entry of copy i under the source's spelling.
func (v *visit) listAs(i int, have, want string) {
	l := v.copies[i]
	l.names.Replace(have, want)
	l.folded[tree.Fold(want, v.dests[i].caps)] = want
}

// trustedInfo is the stat that idx recorded, for runs that do not look.
func trustedInfo(e *index.Entry) tree.Info {
	if e == nil {
		return tree.Info{} // the idx broke off: see wholeRead
	}
	return tree.Info{Kind: e.Kind, Size: e.Size, MTime: e.Target.MTime, CTime: e.Target.CTime, Ino: e.Target.ID, Nlink: 1}
}

// extras finds what copy i has and the source does not.
func (v *visit) extras(i int) error {
	if v.m.Mode == ModeChanges || v.copies[i] == nil {
		return nil
	}
	l, d := v.copies[i], v.dests[i]
	for _, name := range l.names.All() {
		if v.protected(i, name) {
			continue
		}
		now, ok, err := v.listedInfo(i, name)
		if err != nil {
			return err
		}
		path := join(v.path, name)
		if isOut, _ := v.rules.Out(path, now.Kind == tree.Folder); !ok || now.Kind == tree.None || isOut && !v.m.DeleteExcluded {
			continue
		}
		if err := v.sink.extra(d, path, now, v.compare[i].ownerOf(now, l.old.Find(name))); err != nil {
			return err
		}
		if now.Kind == tree.Folder {
			at := v.sides(out)
			at[i] = there
			if err := v.push(place{path: path, source: absent, at: at}); err != nil {
				return err
			}
		}
	}
	return nil
}

// protected tells whether the source has a name, or may have.
func (v *visit) protected(i int, name string) bool {
	if v.marked(name, kept) {
		return true
	}
	return v.seen[i] != nil && v.seen[i][tree.Fold(name, v.dests[i].caps)]
}

// listedInfo is copyInfo for a name that is listed and not the source's.
func (v *visit) listedInfo(i int, name string) (tree.Info, bool, error) {
	l, d := v.copies[i], v.dests[i]
	if l.trusted {
		return trustedInfo(l.old.Find(name)), true, nil
	}
	now, err := l.dir.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.sink.trouble(d, join(v.path, name), fileErr(CauseWrite, "the copy cannot be looked at; it is left as it is: %w", err))
		return now, false, nil
	}
	return now, err == nil, nil
}

// forgotten finds what the idx of copy i knows and neither side has any more.
func (v *visit) forgotten(i int) error {
	l := v.copies[i]
	if l == nil || l.trusted || v.only != "" {
		return nil
	}
	for e := range l.old.All() {
		if e.Kind == tree.Folder && v.noFolder(l, e.Name) {
			at := v.sides(out)
			at[i] = absent
			if err := v.push(place{path: join(v.path, e.Name), source: absent, at: at}); err != nil {
				return err
			}
		}
		if l.has(e.Name) || v.expected(e.Name) {
			continue
		}
		if err := v.sink.gone(v.dests[i], v.path, e.Name); err != nil {
			return err
		}
	}
	return nil
}

// noFolder tells that a copy has no folder of this name, which the idx knows: an
// interrupted run, or somebody else, put something else in its place.
func (v *visit) noFolder(l *listing, name string) bool {
	if !l.has(name) {
		return !v.marked(name, kept) || v.marked(name, wanted)
	}
	info, err := l.dir.Stat(name)
	return err == nil && info.Kind != tree.Folder
}

// expected tells that an entry of the idx which the copy lacks is going to be
// recorded by whoever works on it.
func (v *visit) expected(name string) bool {
	return v.m.Mode == ModeMirror && v.marked(name, wanted)
}

func (v *visit) sides(s side) []side { return slices.Repeat([]side{s}, len(v.dests)) }
