package index

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strings"
)

// Walk yields everything in the order of ComparePaths (a folder's entry before
// what is below it). Its memory is bound by the depth, not by the largest folder,
// and 4 bytes a folder. An error is the last it yields. Entries whose folder has
// no entry of its own, as in an idx made from a manifest, come at their place.
func (r *Reader) Walk() iter.Seq2[Located, error] {
	return func(yield func(Located, error) bool) {
		w := newWalk(r)
		err := w.openNext()
		for err == nil {
			var l Located
			if l, err = w.next(); err == nil && !yield(l, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(Located{}, r.wrap(err))
		}
	}
}

// walk descends with a stack of opened blocks. Its order meets the blocks in the
// order in which they lie in the file, so the block to enter next is always the
// next one there, and only the moment is to be found.
type walk struct {
	r      *Reader
	order  []uint32 // rows by offset
	levels []*level
	ahead  *level // the next block, not yet entered; nil: none is left
	end    int64  // of the blocks opened so far
}

// level is a folder on the way down.
type level struct {
	*blocks
	loaded bool // e is to be yielded
	done   bool
}

func newWalk(r *Reader) *walk {
	order := make([]uint32, len(r.rows))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(r.rows[a].offset, r.rows[b].offset) })
	return &walk{r: r, order: order, end: r.start}
}

// next returns io.EOF, bare, after the last entry.
func (w *walk) next() (Located, error) {
	for {
		if len(w.levels) == 0 {
			if w.ahead == nil {
				return Located{}, io.EOF
			}
			if err := w.enter(); err != nil {
				return Located{}, err
			}
		}
		top := w.levels[len(w.levels)-1]
		if err := top.load(); err != nil {
			return Located{}, err
		}
		sub, below := w.aheadBelow(top.dir)
		switch {
		case below && (top.done || top.e.Name > sub):
			if err := w.enter(); err != nil {
				return Located{}, err
			}
		case top.done:
			w.levels = w.levels[:len(w.levels)-1]
		default:
			top.loaded = false
			return Located{top.dir, top.e}, nil
		}
	}
}

// load makes sure that e is the next entry of the folder, or that it is done.
func (l *level) load() error {
	if l.loaded || l.done {
		return nil
	}
	err := l.blocks.next()
	if err == io.EOF {
		l.done = true
		return nil
	}
	l.loaded = err == nil
	return err
}

// aheadBelow tells whether the next block lies below dir, and in which of dir's
// subfolders.
func (w *walk) aheadBelow(dir string) (sub string, below bool) {
	if w.ahead == nil {
		return "", false
	}
	rest := w.ahead.dir
	if n := len(dir); n > 0 {
		if len(rest) <= n || rest[n] != '/' || rest[:n] != dir {
			return "", false
		}
		rest = rest[n+1:]
	}
	sub, _, _ = strings.Cut(rest, "/")
	return sub, true
}

// enter goes down into the next block, and opens the one after it.
func (w *walk) enter() error {
	w.levels = append(w.levels, w.ahead)
	return w.openNext()
}

func (w *walk) openNext() error {
	if len(w.order) == 0 {
		if w.end != w.r.table {
			return damaged("bytes at %d belong to no folder", w.end)
		}
		w.ahead = nil
		return nil
	}
	x := w.r.rows[w.order[0]]
	if x.offset != w.end {
		return damaged("block at %d does not follow the one before, which ends at %d", x.offset, w.end)
	}
	b, err := w.r.open(x)
	if err != nil {
		return err
	}
	if w.ahead != nil && ComparePaths(w.ahead.dir, b.dir) >= 0 {
		return damaged("folder %q after %q is out of order", b.dir, w.ahead.dir)
	}
	w.order, w.end, w.ahead = w.order[1:], x.offset+x.length, &level{blocks: b}
	return nil
}
