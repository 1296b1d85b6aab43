package engine

import (
	"context"
	"encoding/binary"
	"os"
	"strings"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// Hard links: the names of one inode are judged together once the scan knows all
// of them. One name is copied, or stays if it is right; the others become links
// to it.

// inodeKey sorts the names of one inode together.
func inodeKey(t *task) []byte {
	key := binary.BigEndian.AppendUint64(nil, t.src.Dev)
	key = binary.BigEndian.AppendUint64(key, t.src.Ino)
	return append(key, t.path...)
}

// eachGroup yields the tasks that make each inode's names what they should be.
func (r *run) eachGroup(yield func(*task) bool) error {
	var group []*task
	var inode [16]byte
	flush := func() bool {
		tasks := r.joined(group)
		group = nil
		for _, t := range tasks {
			r.meter.copyAll.Add(t.src.Size)
			if !yield(t) {
				return false
			}
		}
		return true
	}
	for key, rec := range r.links.Sorted() {
		if [16]byte(key) != inode && !flush() {
			return nil
		}
		inode = [16]byte(key)
		t, err := decodeTask(rec)
		if err != nil {
			return err
		}
		group = append(group, t)
	}
	flush()
	return spillError(r.links.Err())
}

// joined makes the tasks of an inode's names. Destinations for which the same is
// to be done share one, so that the source is read once.
func (r *run) joined(group []*task) []*task {
	var tasks []*task
	byKey := map[string]*task{}
	for i := range r.dests {
		for _, t := range r.joinedAt(i, group) {
			key := t.key()
			if same := byKey[key]; same != nil {
				same.merge(t)
				continue
			}
			byKey[key] = t
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// key is equal for tasks with the same names and the same work.
func (t *task) key() string {
	var b strings.Builder
	b.WriteString(t.path)
	for _, m := range t.members {
		b.WriteString("\x00" + m.path)
	}
	if t.anchored {
		h := t.orders[0].old.Hash
		b.WriteString("\x00\x00" + string(h[:]))
	}
	return b.String()
}

func (t *task) merge(u *task) {
	t.orders = append(t.orders, u.orders...)
	for i := range t.members {
		t.members[i].orders = append(t.members[i].orders, u.members[i].orders...)
	}
}

// joinedAt decides for one destination.
func (r *run) joinedAt(i int, group []*task) []*task {
	d := r.dests[i]
	var names []*task // one order each
	for _, g := range group {
		if o := g.order(i); o != nil {
			names = append(names, &task{path: g.path, src: g.src, orders: []order{*o}})
		}
	}
	switch {
	case len(names) == 0 || !d.alive():
		return nil
	case r.together(d, names):
		for _, n := range names {
			d.settle(&d.report.Unchanged, n.src.Size)
		}
		return nil
	case !d.caps.HardLinks:
		if len(names) > 1 {
			d.note("the target's file system holds no hard links: each name has a copy of its own")
		}
		return r.apartAt(d, names)
	}
	return []*task{linkedTask(names)}
}

// together tells that all names are unchanged at the target and one inode there,
// with no further name.
func (r *run) together(d *dest, names []*task) bool {
	first := names[0].orders[0].now
	for _, n := range names {
		o := n.orders[0]
		if o.op != 0 || o.now.Kind != tree.File {
			return false
		}
		if d.caps.HardLinks && (o.now.Ino != first.Ino || o.now.Nlink != uint64(len(names))) {
			return false
		}
	}
	return true
}

// apartAt treats names as files of their own.
func (r *run) apartAt(d *dest, names []*task) []*task {
	var work []*task
	for _, n := range names {
		if n.orders[0].op == 0 {
			d.settle(&d.report.Unchanged, n.src.Size)
			continue
		}
		work = append(work, n)
	}
	return work
}

// linkedTask makes one task of an inode's names at one destination: led by a
// name that is right there, else by the first.
func linkedTask(names []*task) *task {
	lead := 0
	for i, n := range names {
		if n.mayAnchor(names) {
			names[0], names[i] = names[i], names[0]
			names[0].anchored = true
			break
		}
	}
	t := names[lead]
	for _, n := range names[1:] {
		n.orders[0].needed()
		t.members = append(t.members, member{n.path, n.orders})
	}
	if !t.anchored {
		t.orders[0].needed()
	}
	return t
}

// needed makes of an order that would leave a name alone, or compare it, one
// that replaces it.
func (o *order) needed() {
	switch o.op {
	case 0:
		o.op, o.owner = opReplace, ours
	case opCheck:
		o.op = opReplace
	}
}

// mayAnchor tells that a name's file at the target is as we left it and has no
// name outside the group: the others can be linked to it.
func (t *task) mayAnchor(names []*task) bool {
	o := t.orders[0]
	right := o.op == 0 || o.op == opCheck && o.owner == ours && o.old.Flags&(index.Partial|index.NextToo|index.Unstable) == 0
	if !right || o.now.Kind != tree.File {
		return false
	}
	var inside uint64
	for _, n := range names {
		if n.orders[0].now.Kind == tree.File && n.orders[0].now.Ino == o.now.Ino {
			inside++
		}
	}
	return inside == o.now.Nlink
}

// stageAnchor settles a task whose first name is in place. ok false: its bytes
// are not the source's; it must be copied.
func (r *run) stageAnchor(ctx context.Context, t *task, f *os.File, info *tree.Info) (s *staged, ok bool, err error) {
	hash := t.orders[0].old.Hash
	source, err := r.hashSource(ctx, f, t.path, info)
	if err != nil {
		return nil, false, err
	}
	if source != hash {
		if r.rotten(&t.orders[0], *info) {
			return nil, false, errRotten
		}
		t.anchored = false
		for i := range t.orders {
			t.orders[i].needed()
		}
		return nil, false, nil
	}
	s = &staged{t: t, info: *info, hash: hash}
	for i := range t.orders {
		o := &t.orders[i]
		e, err := r.settleEqual(t, o, f, *info, hash, 0)
		if err != nil {
			r.failed(t.only(o.dest), err)
			continue
		}
		s.files = append(s.files, stagedFile{d: r.dests[o.dest], o: o, entry: e})
	}
	return s, true, nil
}

// linkMembers makes the further names of a published file and returns those that
// are in place. A name that fails is a problem of its own.
func (r *run) linkMembers(ctx context.Context, d *dest, p part) (made []string) {
	for _, m := range p.s.t.members {
		o := m.order(p.file.o.dest)
		if o == nil {
			continue
		}
		if p.s.t.anchored && o.now.Kind == tree.File && o.now.Ino == p.file.o.now.Ino {
			d.settle(&d.report.Unchanged, p.s.info.Size)
			made = append(made, m.path)
			continue
		}
		if err := r.linkMember(ctx, d, p, m.path, o); err != nil {
			r.settleFailed(p.file.o.dest, m.path, err)
			continue
		}
		made = append(made, m.path)
	}
	return made
}

func (r *run) linkMember(ctx context.Context, d *dest, p part, path string, o *order) error {
	dir, name := split(p.s.t.path)
	in, done, err := d.folders.get(dir)
	if err != nil {
		return writeErr(err)
	}
	defer done()
	temp := r.tempName()
	if err := in.Link(name, d.stage.of(temp), temp); err != nil {
		return writeErr(err)
	}
	if err := r.place(ctx, d, path, temp, o); err != nil {
		d.stage.of(temp).Remove(temp)
		return err
	}
	d.countCopy(o.now, p.s.info.Size)
	return nil
}
