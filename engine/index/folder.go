package index

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strings"
)

// Folder is what an idx says of one folder: entries sorted by name. Its memory
// does not grow with the folder: of one with more than a chunk of entries (some
// hundred) it holds a chunk, and where each chunk begins. A nil Folder has no
// entries. One goroutine may use it.
type Folder struct {
	r       *Reader
	parts   []part
	end     int64   // of the last part
	entries []Entry // of parts[at]
	at      int
	next    int // of entries: the place of the last look-up
	err     error
}

// part is a chunk of a folder's block.
type part struct {
	offset int64
	first  string // name
}

// Folder opens a folder; nil if the idx has no entries in it (an empty folder is
// an entry of the folder above, no more). All of it is read and checked now:
// ErrDamaged if a checksum fails.
func (r *Reader) Folder(dir string) (*Folder, error) {
	b, err := r.find(dir)
	if b == nil || err != nil {
		return nil, err
	}
	f := &Folder{r: r, end: b.in.end}
	for {
		err := b.next()
		switch {
		case err == io.EOF:
			if len(f.parts) > 1 {
				f.entries, f.at = nil, -1
			}
			return f, nil
		case err != nil:
			return nil, r.wrap(err)
		case len(f.parts) == 0 || b.at != f.parts[len(f.parts)-1].offset:
			f.parts = append(f.parts, part{b.at, b.e.Name})
		}
		if len(f.parts) == 1 {
			f.add(b)
		}
	}
}

// add takes over the entry that b has read. An entry of a file takes about 50
// bytes.
func (f *Folder) add(b *blocks) {
	if f.entries == nil {
		f.entries = make([]Entry, 0, len(b.d.Rest)/50+1)
	}
	f.entries = append(f.entries, b.e)
}

// Find returns an entry, nil if there is none; it holds until the next call of
// any method. Names asked for in their order are found at once.
func (f *Folder) Find(name string) *Entry {
	if f == nil {
		return nil
	}
	if len(f.parts) > 1 {
		at, found := slices.BinarySearchFunc(f.parts, name, func(p part, n string) int { return cmp.Compare(p.first, n) })
		if !found {
			at--
		}
		if at < 0 || !f.load(at) {
			return nil
		}
	}
	if f.next > 0 && f.entries[f.next-1].Name >= name {
		f.next, _ = slices.BinarySearchFunc(f.entries, name, func(e Entry, n string) int { return strings.Compare(e.Name, n) })
	}
	for f.next < len(f.entries) && f.entries[f.next].Name < name {
		f.next++
	}
	if f.next < len(f.entries) && f.entries[f.next].Name == name {
		return &f.entries[f.next]
	}
	return nil
}

// All yields all entries in their order; each holds until the next step, and
// nothing may be looked up in between. It ends early at an error: ask Err.
func (f *Folder) All() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		if f == nil {
			return
		}
		for at := range f.parts {
			if !f.load(at) {
				return
			}
			for i := range f.entries {
				if !yield(&f.entries[i]) {
					return
				}
			}
		}
	}
}

// Err is the first error of reading what Folder had read before: of a drive that
// goes.
func (f *Folder) Err() error {
	if f == nil {
		return nil
	}
	return f.err
}

// load makes a part the present one.
func (f *Folder) load(at int) bool {
	if f.err != nil {
		return false
	}
	if f.at == at {
		return true
	}
	end := f.end
	if at+1 < len(f.parts) {
		end = f.parts[at+1].offset
	}
	b := &blocks{one: true, open: at > 0, in: chunks{r: f.r.r, next: f.parts[at].offset, end: end, ahead: aheadDir}}
	err := b.readChunk()
	f.entries, f.next, f.at = f.entries[:0], 0, at
	for err == nil && len(b.d.Rest) > 0 {
		if err = b.next(); err == nil {
			f.add(b)
		}
	}
	if err != nil {
		f.entries, f.at, f.err = nil, -1, f.r.wrap(err)
	}
	return err == nil
}
