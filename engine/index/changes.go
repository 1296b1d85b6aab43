package index

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/hourhand/hourhand/engine/record"
)

// Change is a difference between the old idx and the new one.
type Change struct {
	Located
	Gone bool // the entry (a folder: only it, not what is below) is no more
}

// Changes collects changes in any order, from any goroutine, in bounded memory.
type Changes struct{ sorter *Sorter }

// NewChanges spills into unlinked files in folder scratch.
func NewChanges(scratch string) *Changes { return &Changes{NewSorter(scratch)} }

// Add records a change; of several for one path the last one counts. A name,
// folder or size that no idx can hold is an error.
func (c *Changes) Add(ch Change) error {
	if err := checkDir(ch.Dir); err != nil {
		return err
	}
	if err := checkEntry(&ch.Entry); err != nil {
		return err
	}
	// The value repeats the name: 20 bytes more, and one way to encode less.
	value := make([]byte, 1, 160)
	if ch.Gone {
		value[0] = 1
	}
	return c.sorter.Add(Key(ch.Dir, ch.Name), appendEntry(value, &Entry{}, &ch.Entry))
}

// Len is how many were added.
func (c *Changes) Len() int64 { return c.sorter.Len() }

// Close frees memory and disk. It may be called more than once.
func (c *Changes) Close() error { return c.sorter.Close() }

// Merge yields old (nil: nothing) with the changes applied, in the idx's order.
// It may be called once; nothing may be added after it. An error is the last it
// yields.
func (c *Changes) Merge(old *Reader) iter.Seq2[Located, error] {
	return func(yield func(Located, error) bool) {
		m := merged{changes: newest{m: c.sorter.merge()}}
		m.changes.more = m.changes.m.next()
		if old != nil {
			m.old = old.stream()
		}
		for {
			l, err := m.next()
			if err == io.EOF || !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// merged merges the entries of an idx with the changes.
type merged struct {
	old     *stream // nil: none, or at its end
	entry   Located
	key     []byte // of entry; empty: the next is to be read
	changes newest
	change  bool // changes.key is to be merged

	dir    string // of the last change, to share its memory
	dirKey []byte
}

// next returns io.EOF, bare, after the last entry.
func (m *merged) next() (Located, error) {
	for {
		if err := m.load(); err != nil {
			return Located{}, err
		}
		order := -1
		switch {
		case len(m.key) == 0 && !m.change:
			return Located{}, io.EOF
		case len(m.key) == 0:
			order = 1
		case m.change:
			order = bytes.Compare(m.key, m.changes.key)
		}
		if order <= 0 {
			m.key = m.key[:0]
		}
		if order < 0 {
			return m.entry, nil
		}
		m.change = false
		if ch, err := m.decode(); err != nil || !ch.Gone {
			return ch.Located, err
		}
	}
}

// load makes the next of both sides present.
func (m *merged) load() (err error) {
	if len(m.key) == 0 && m.old != nil {
		m.entry, err = m.old.next()
		switch {
		case err == io.EOF:
			m.old = nil
		case err != nil:
			return err
		default:
			m.key = appendKey(m.key, m.entry.Dir, m.entry.Name)
		}
	}
	if !m.change {
		m.change, err = m.changes.next()
		return err
	}
	return nil
}

func (m *merged) decode() (ch Change, err error) {
	dirKey, _, _ := bytes.Cut(m.changes.key, []byte{0, 0})
	if m.dirKey == nil || !bytes.Equal(dirKey, m.dirKey) {
		m.dirKey = append(m.dirKey[:0], dirKey...)
		m.dir = string(bytes.ReplaceAll(dirKey, []byte{0}, []byte{'/'}))
	}
	d := decoder{record.Reader{Rest: m.changes.value}}
	head := d.Take(1)
	if d.Err == nil {
		ch.Gone, ch.Dir = head[0] == 1, m.dir
		err = d.entry(&ch.Entry)
	}
	return ch, errors.Join(d.Err, err)
}

// newest drops all records of a key but the last.
type newest struct {
	m          *merger
	more       bool // m has a present record
	key, value []byte
}

func (n *newest) next() (bool, error) {
	if !n.more {
		return false, n.m.s.Err()
	}
	n.key = append(n.key[:0], n.m.key...)
	for n.more && bytes.Equal(n.key, n.m.key) {
		n.value = append(n.value[:0], n.m.value...)
		n.more = n.m.next()
	}
	return true, nil
}
