package engine

import (
	"encoding/binary"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/record"
	"github.com/hourhand/hourhand/engine/tree"
)

// op is what a destination needs for one entry.
type op uint8

const (
	opAdd     op = iota + 1 // nothing is there
	opReplace               // something else is there and gives way
	opCheck                 // stat does not tell: compare contents, then mend or replace
)

// owner tells whether what lies at the target may be replaced for good.
type owner uint8

const (
	strange owner = iota // not in idx, or edited since: it gives way to found/
	ours                 // as idx knows it
	unclear              // the contents tell: equal to a hash that we recorded, it is ours
)

// order is one destination's part of a task.
type order struct {
	dest  int
	op    op
	owner owner
	now   tree.Info   // what the scan saw at the target; Kind None: nothing
	old   index.Entry // what idx says; Kind None: nothing
	put   bool        // a comparison that is put off to the next visit
}

// task is one file or link on its way to one or several destinations.
type task struct {
	path     string
	src      tree.Info
	orders   []order
	members  []member   // further names of the same inode, if it has several
	anchored bool       // its own name is right at the target; only members are to be linked
	tries    int        // late passes so far
	early    *earlyFile // its source, if it was opened and read with others; else nil
}

// member is a further hard link of a task's file. Its orders stand in the same
// order of destinations as the task's.
type member struct {
	path   string
	orders []order
}

// order finds a destination's part, nil if it needs nothing.
func (t *task) order(dest int) *order {
	for i := range t.orders {
		if t.orders[i].dest == dest {
			return &t.orders[i]
		}
	}
	return nil
}

// encode makes a queue's record of a task without members.
func (t *task) encode() []byte {
	b := make([]byte, 0, 256)
	b = record.AppendString(b, t.path)
	b = appendInfo(b, t.src)
	b = binary.AppendUvarint(b, uint64(t.tries))
	return appendOrders(b, t.orders)
}

func decodeTask(b []byte) (*task, error) {
	d := decode(b)
	t := &task{path: d.String(), src: d.info(), tries: int(d.Uvarint())}
	t.orders = d.orders()
	return t, spillError(d.Err)
}

// encode makes a queue's record of a place that a visit found.
func (p place) encode() []byte {
	b := record.AppendString(make([]byte, 0, 256), p.path)
	b = append(b, byte(p.source))
	b = binary.AppendUvarint(b, uint64(len(p.at)))
	for i, at := range p.at {
		var known index.Entry
		if p.known != nil && p.known[i] != nil {
			known = *p.known[i]
		}
		b = appendEntry(append(b, byte(at)), known)
	}
	return b
}

func decodePlace(b []byte) (place, error) {
	d := decode(b)
	p := place{path: d.String(), source: side(d.Byte())}
	n := d.Uvarint()
	if n > maxOrders {
		d.Fail()
		n = 0
	}
	p.at, p.known = make([]side, n), make([]*index.Entry, n)
	for i := range p.at {
		p.at[i] = side(d.Byte())
		if e := d.entry(); e.Kind != tree.None {
			p.known[i] = &e
		}
	}
	return p, d.Err
}

func appendOrders(b []byte, orders []order) []byte {
	b = binary.AppendUvarint(b, uint64(len(orders)))
	for _, o := range orders {
		b = binary.AppendUvarint(b, uint64(o.dest))
		b = append(b, byte(o.op), byte(o.owner))
		b = appendInfo(b, o.now)
		b = appendEntry(b, o.old)
	}
	return b
}

func appendInfo(b []byte, i tree.Info) []byte {
	b = append(b, byte(i.Kind))
	if i.Kind == tree.None {
		return b
	}
	for _, v := range []int64{i.Size, i.Allocated, i.MTime, i.CTime} {
		b = binary.AppendVarint(b, v)
	}
	for _, v := range []uint64{uint64(i.Mode), uint64(i.UID), uint64(i.GID), uint64(i.Attr), i.Dev, i.Ino, i.Nlink} {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// appendEntry keeps what a task needs of an idx entry; its name is the task's.
func appendEntry(b []byte, e index.Entry) []byte {
	b = append(b, byte(e.Kind))
	if e.Kind == tree.None {
		return b
	}
	b = append(b, e.Flags, byte(e.How))
	b = append(append(b, e.Hash[:]...), e.NextHash[:]...)
	for _, v := range []int64{e.Size, e.Source.MTime, e.Source.CTime, e.Target.MTime, e.Target.CTime, e.Proved, e.Put, e.Seq} {
		b = binary.AppendVarint(b, v)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, e.Source.ID), e.Target.ID)
}

// decoder reads records that lay on a local disk in the meantime.
type decoder struct{ record.Reader }

func decode(rec []byte) *decoder { return &decoder{record.Reader{Rest: rec}} }

func (d *decoder) info() (i tree.Info) {
	if i.Kind = tree.Kind(d.Byte()); i.Kind == tree.None {
		return i
	}
	i.Size, i.Allocated, i.MTime, i.CTime = d.Varint(), d.Varint(), d.Varint(), d.Varint()
	i.Mode, i.UID, i.GID, i.Attr = uint32(d.Uvarint()), uint32(d.Uvarint()), uint32(d.Uvarint()), uint32(d.Uvarint())
	i.Dev, i.Ino, i.Nlink = d.Uvarint(), d.Uvarint(), d.Uvarint()
	return i
}

func (d *decoder) entry() (e index.Entry) {
	if e.Kind = tree.Kind(d.Byte()); e.Kind == tree.None {
		return e
	}
	e.Flags, e.How = d.Byte(), index.How(d.Byte())
	copy(e.Hash[:], d.Take(16))
	copy(e.NextHash[:], d.Take(16))
	e.Size = d.Varint()
	e.Source.MTime, e.Source.CTime, e.Target.MTime, e.Target.CTime = d.Varint(), d.Varint(), d.Varint(), d.Varint()
	e.Proved, e.Put, e.Seq = d.Varint(), d.Varint(), d.Varint()
	e.Source.ID, e.Target.ID = d.Uvarint(), d.Uvarint()
	return e
}

// maxOrders is more than the destinations of any run: 24 hours and some targets.
const maxOrders = 1024

func (d *decoder) orders() []order {
	n := d.Uvarint()
	if n > maxOrders {
		d.Fail()
		return nil
	}
	orders := make([]order, n)
	for i := range orders {
		o := &orders[i]
		o.dest, o.op, o.owner = int(d.Uvarint()), op(d.Byte()), owner(d.Byte())
		o.now, o.old = d.info(), d.entry()
	}
	return orders
}
