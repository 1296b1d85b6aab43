package engine

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// Mode changes: an hour receives what is new or changed since the last sealed
// run of the job, whichever hour that was.

// seenFile is what the last sealed run of a job saw of its source.
const seenFile = "seen.idx"

// keepDefault is how long a file stays in an hour of mode changes.
const keepDefault = 48 * time.Hour

// seen knows the source as the last sealed run saw it, by file id: a folder that
// was moved is no change.
type seen struct {
	first bool // nothing was ever recorded: this run records and copies nothing
	known []sight
	now   *index.Sorter
	// missed: not all of the source was seen or copied, so what was known of the
	// rest stays known: a file that failed is tried again, others are not copied twice
	missed atomic.Bool
}

type sight struct {
	id          uint64
	size, mtime int64
}

// openSeen loads what each target's last sealed run saw.
func (r *run) openSeen() error {
	byTarget := map[*target]*seen{}
	for _, d := range r.dests {
		s := byTarget[d.target]
		if s == nil {
			s = &seen{now: index.NewSorter(r.m.Scratch)}
			if err := s.load(d.own); err != nil {
				return err
			}
			byTarget[d.target] = s
			d.seenFirst = true
		}
		d.seen = s
		if s.first {
			d.note("this first run of the job only records what is there; from the next one on, what is new or changed is copied")
		}
	}
	return nil
}

// load reads the record. One that is damaged is as none: everything is recorded
// anew, nothing copied twice by mistake or lost.
func (s *seen) load(ownDir *tree.Dir) error {
	f, info, err := ownDir.OpenFile(seenFile)
	if errors.Is(err, fs.ErrNotExist) {
		s.first = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what the last run saw: %w", err)
	}
	defer f.Close()
	idx, err := index.NewReader(f, info.Size, seenFile)
	if err != nil {
		return fmt.Errorf("%w; remove it to record the source anew", err)
	}
	s.known = make([]sight, 0, min(idx.Len(), info.Size/8)) // no entry is shorter than 8 bytes
	for l, err := range idx.All() {
		if err != nil {
			return fmt.Errorf("%w; remove it to record the source anew", err)
		}
		s.known = append(s.known, sight{l.Source.ID, l.Size, l.Source.MTime})
	}
	slices.SortFunc(s.known, func(a, b sight) int { return cmp.Compare(a.id, b.id) })
	return nil
}

// judge decides whether a file of the source goes into the hour.
func (s *seen) judge(c *comparer, src, now tree.Info, old *index.Entry, path string) (verdict, error) {
	x := sightOf(c.sourceStable, src, path)
	i, ok := slices.BinarySearchFunc(s.known, x.id, func(k sight, id uint64) int { return cmp.Compare(k.id, id) })
	if s.first || ok && s.known[i] == x {
		return verdict{}, s.remember(x)
	}
	v := c.file(src, now, old)
	if v.op == 0 && !v.swap {
		return v, s.remember(x) // it is in the hour already
	}
	return v, nil
}

func sightOf(stable bool, src tree.Info, path string) sight {
	x := sight{src.Ino, src.Size, src.MTime}
	if !stable || src.Ino == 0 {
		x.id = xxh3.HashString(path)
	}
	return x
}

// remember notes a file that needs no copy, or has got it.
func (s *seen) remember(x sight) error {
	return spillError(s.now.Add(binary.BigEndian.AppendUint64(nil, x.id), appendInfo(nil, tree.Info{Kind: tree.File, Size: x.size, MTime: x.mtime})))
}

// save stores what this run saw, after its hour is sealed: a run that dies
// between the two copies the same files once more, and loses none.
func (s *seen) save(ownDir *tree.Dir) error {
	if s.missed.Load() {
		for _, x := range s.known {
			if err := s.remember(x); err != nil {
				return err
			}
		}
	}
	err := replaceDurable(ownDir, seenFile, func(f *os.File) error {
		w := index.NewWriter(f, index.Header{})
		last := ""
		for key, rec := range s.now.Sorted() {
			name := hex.EncodeToString(key)
			if name == last {
				continue // another name of the same file
			}
			last = name
			src := decode(rec).info()
			e := index.Entry{Name: name, Kind: tree.File, Size: src.Size, Source: index.Stamp{MTime: src.MTime, ID: binary.BigEndian.Uint64(key)}}
			if err := w.Add("", e); err != nil {
				return err
			}
		}
		return errors.Join(s.now.Err(), w.Close())
	})
	if err != nil {
		return fmt.Errorf("record what this run saw: %w", writeError(err))
	}
	return nil
}

// expire asks for the removal of what has been in the hour for longer than the
// job keeps it, if as many sealings of this hour as the keep has days came since:
// a machine that was off for a month does not lose everything at its first run.
func (r *run) expire(d *dest) error {
	keep := r.m.Keep
	if keep <= 0 {
		keep = keepDefault
	}
	if d.old == nil {
		return nil
	}
	oldest := r.started.Add(-keep).Unix()
	rounds := max(1, int64((keep+24*time.Hour-1)/(24*time.Hour)))
	for l, err := range d.old.All() {
		if err != nil {
			return fmt.Errorf("read the idx of hour %s: %w", d.slot, err)
		}
		if l.Kind == tree.Folder || l.Put == 0 || l.Put > oldest || d.before.Seals-l.Seq < rounds {
			continue
		}
		if err := r.expireOne(d, l); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) expireOne(d *dest, l index.Located) error {
	in, done, err := d.folders.get(l.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return writeErr(err)
	}
	defer done()
	now, err := in.Stat(l.Name)
	c := r.comparerOf(d)
	if err != nil || !c.targetSame(now, &l.Entry) {
		return nil // gone, or put there anew by this run
	}
	if err := r.extra(d, l.Path(), now, ours); err != nil {
		return err
	}
	for dir := l.Dir; dir != ""; dir = parent(dir) {
		if err := r.extra(d, dir, tree.Info{Kind: tree.Folder}, ours); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) comparerOf(d *dest) *comparer {
	return r.scanner.compare[slices.Index(r.dests, d)]
}
