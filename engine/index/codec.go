package index

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hourhand/hourhand/engine/record"
	"github.com/hourhand/hourhand/engine/tree"
)

// An encoded entry is four bytes (kind, flags, how, fields), the name as the
// length it shares with the name before, the length of the rest and the rest,
// the size, and the fields that are not zero. Numbers are varints of the
// difference to the entry before: neighbours in a folder are much alike.
const (
	hasHash = 1 << iota
	hasNextHash
	hasSource
	hasTarget
	hasProved
	hasPlace // Put or Seq

	allFields = 1<<iota - 1
	allFlags  = Racy | Unstable | Partial | Stale | NextToo
)

// appendEntry encodes e after prev, the entry before it (zero: none).
func appendEntry(b []byte, prev, e *Entry) []byte {
	fields := fieldsOf(e)
	b = append(b, byte(e.Kind), e.Flags, byte(e.How), fields)
	shared := sharedPrefix(prev.Name, e.Name)
	b = binary.AppendUvarint(b, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(e.Name)-shared))
	b = append(b, e.Name[shared:]...)
	b = binary.AppendUvarint(b, uint64(e.Size))
	if fields&hasHash != 0 {
		b = append(b, e.Hash[:]...)
	}
	if fields&hasNextHash != 0 {
		b = append(b, e.NextHash[:]...)
	}
	if fields&hasSource != 0 {
		b = appendStamp(b, &prev.Source, &e.Source, prev.Source.MTime)
	}
	if fields&hasTarget != 0 {
		// The target's mtime is the source's, as exactly as it can hold it.
		b = appendStamp(b, &prev.Target, &e.Target, e.Source.MTime)
	}
	if fields&hasProved != 0 {
		b = binary.AppendVarint(b, e.Proved-prev.Proved)
	}
	if fields&hasPlace != 0 {
		b = binary.AppendVarint(b, e.Put-prev.Put)
		b = binary.AppendVarint(b, e.Seq-prev.Seq)
	}
	return b
}

func appendStamp(b []byte, prev, s *Stamp, mtime int64) []byte {
	b = binary.AppendVarint(b, s.MTime-mtime)
	b = binary.AppendVarint(b, s.CTime-prev.CTime)
	return binary.AppendVarint(b, int64(s.ID-prev.ID))
}

func fieldsOf(e *Entry) (fields byte) {
	for _, f := range []struct {
		bit byte
		set bool
	}{
		{hasHash, e.Hash != [16]byte{}},
		{hasNextHash, e.NextHash != [16]byte{}},
		{hasSource, e.Source != Stamp{}},
		{hasTarget, e.Target != Stamp{}},
		{hasProved, e.Proved != 0},
		{hasPlace, e.Put != 0 || e.Seq != 0},
	} {
		if f.set {
			fields |= f.bit
		}
	}
	return fields
}

func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

var errEntry = errors.New("entry cannot be read")

// decoder takes entries from encoded bytes.
type decoder struct{ record.Reader }

// entry decodes an entry into e, which holds the one before it.
func (d *decoder) entry(e *Entry) error {
	head := d.Take(4)
	if d.Err != nil {
		return d.Err
	}
	kind, flags, how, fields := tree.Kind(head[0]), head[1], How(head[2]), head[3]
	if kind > tree.Special || flags&^allFlags != 0 || how > Clone || fields&^allFields != 0 {
		return errEntry
	}
	prev := *e
	*e = Entry{Name: d.name(prev.Name), Kind: kind, Flags: flags, How: how}
	e.Size = int64(d.Uvarint())
	if fields&hasHash != 0 {
		copy(e.Hash[:], d.Take(16))
	}
	if fields&hasNextHash != 0 {
		copy(e.NextHash[:], d.Take(16))
	}
	if fields&hasSource != 0 {
		e.Source = d.stamp(&prev.Source, prev.Source.MTime)
	}
	if fields&hasTarget != 0 {
		e.Target = d.stamp(&prev.Target, e.Source.MTime)
	}
	if fields&hasProved != 0 {
		e.Proved = prev.Proved + d.Varint()
	}
	if fields&hasPlace != 0 {
		e.Put = prev.Put + d.Varint()
		e.Seq = prev.Seq + d.Varint()
	}
	if d.Err != nil {
		return d.Err
	}
	return checkEntry(e)
}

func (d *decoder) name(prev string) string {
	shared := d.Uvarint()
	rest := d.Take(d.Uvarint())
	if shared > uint64(len(prev)) {
		d.Fail()
	}
	if d.Err != nil {
		return ""
	}
	return prev[:shared] + string(rest)
}

func (d *decoder) stamp(prev *Stamp, mtime int64) (s Stamp) {
	s.MTime = mtime + d.Varint()
	s.CTime = prev.CTime + d.Varint()
	s.ID = prev.ID + uint64(d.Varint())
	return s
}

// checkEntry refuses what neither Writer writes nor Reader lets through.
func checkEntry(e *Entry) error {
	if err := checkName(e.Name); err != nil {
		return err
	}
	switch {
	case len(e.Name) > maxName:
		return fmt.Errorf("name of %d bytes is too long", len(e.Name))
	case e.Size < 0:
		return fmt.Errorf("size %d of %q", e.Size, e.Name)
	case e.Kind > tree.Special || e.Flags&^allFlags != 0 || e.How > Clone:
		return fmt.Errorf("kind, flags or proof of %q are unknown", e.Name)
	}
	return nil
}
