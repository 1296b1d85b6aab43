package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/manifest"
	"github.com/hourhand/hourhand/engine/tree"
)

// What a run begins with where the one before it did not come to its end.

// loadIndex opens the hour's idx. Where a run was interrupted, or the idx is
// lost or damaged, it is completed from the manifests and the intents.
func (d *dest) loadIndex(scratch string) error {
	if d.own == nil {
		return nil
	}
	f, info, err := d.own.OpenFile(d.slot + ".idx")
	if errors.Is(err, fs.ErrNotExist) {
		f, info, err = d.own.OpenFile(d.slot + ".was.idx")
	}
	switch {
	case err == nil:
		if d.old, err = index.NewReader(f, info.Size, d.slot+".idx"); err != nil {
			f.Close()
			d.note("%v; the copy is compared by its manifest", err)
			d.old = nil
		} else {
			d.oldFile = f
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open the idx of hour %s: %w", d.slot, err)
	}
	switch {
	case d.taken:
		d.closeOld()
		d.old = nil // taken over: nothing here is ours until it is compared
		return nil
	case d.old != nil && !d.interrupted():
		return nil
	}
	return d.completeIndex(scratch)
}

// interrupted tells whether intents of an unsealed run are there.
func (d *dest) interrupted() bool {
	if d.before.Content == Sealed {
		return false // the run died after its seal: its intents are history
	}
	_, err := d.own.Stat(d.slot + ".next")
	return err == nil
}

// completeIndex merges what the manifests and the intents of an unsealed run
// say into the idx, as partial entries: path and hash are known, the stat is not.
func (d *dest) completeIndex(scratch string) error {
	extra := index.NewChanges(scratch)
	defer extra.Close()
	if d.old == nil {
		for _, name := range []string{d.slot, d.slot + ".was"} {
			if err := d.addManifest(extra, name); err != nil {
				return err
			}
		}
	}
	if d.interrupted() {
		if err := d.addIntents(extra); err != nil {
			return err
		}
	}
	if extra.Len() == 0 {
		return nil
	}
	f, r, err := scratchIndex(scratch, extra, d.old)
	if err != nil {
		return fmt.Errorf("complete the idx of hour %s: %w", d.slot, err)
	}
	d.closeOld()
	d.oldFile, d.old = f, r
	return nil
}

// scratchIndex writes an idx that lives as long as its file is open.
func scratchIndex(scratch string, changes *index.Changes, old *index.Reader) (*os.File, *index.Reader, error) {
	f, err := os.CreateTemp(scratch, "hourhand-idx-*")
	if err != nil {
		return nil, nil, err
	}
	os.Remove(f.Name()) // on Windows it goes with the temp folder
	err = mergeIndex(f, changes, old, false, func(*index.Entry) {})
	size := int64(0)
	if err == nil {
		size, err = f.Seek(0, io.SeekEnd)
	}
	var r *index.Reader
	if err == nil {
		r, err = index.NewReader(f, size, "scratch idx")
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, r, nil
}

// addManifest adds a manifest's files as partial entries. A damaged line is
// left out: its file is compared by content then.
func (d *dest) addManifest(to *index.Changes, name string) error {
	m, err := openManifest(d.own, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer m.close()
	for line, err := range m.lines() {
		if err != nil {
			d.note("%v", err)
			continue
		}
		if err := to.Add(partial(line)); err != nil {
			return err
		}
	}
	return nil
}

// partial makes an entry of what a manifest's line says.
func partial(line manifest.Line) index.Change {
	dir, name := split(line.Path)
	return index.Change{Located: index.Located{Dir: dir, Entry: index.Entry{Name: name, Kind: tree.File, Flags: index.Partial, How: index.Source, Hash: line.Hash}}}
}

// addIntents adds the files that an unsealed run may have put in place. What it
// had proved durable is trusted by stat, the rest is compared by content.
func (d *dest) addIntents(to *index.Changes) error {
	f, _, err := d.own.OpenFile(d.slot + ".next")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	proven, err := countProven(f)
	if err != nil {
		return err
	}
	var n int64
	lines := map[uint64]bool{}
	for line, err := range manifest.ReadIntents(f) {
		n++
		if err != nil {
			d.note("%v", err)
			continue
		}
		if line.Remove {
			continue
		}
		key := xxh3.HashString(line.Path)
		ch, err := d.intended(to, line, n <= proven && !lines[key]) // of several, any may be there
		lines[key] = true
		if err == nil {
			err = to.Add(ch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// intended makes the entry of an intent: the old entry with the new hash beside
// it, or a partial one.
func (d *dest) intended(to *index.Changes, line manifest.Line, proven bool) (index.Change, error) {
	ch := partial(line)
	if !proven {
		ch.Flags |= index.Unstable // compare by content
	}
	e, err := d.entryOf(line.Path)
	switch {
	case err != nil:
		return ch, err
	case e.Kind == tree.Folder:
		return ch, d.forgetBelow(to, line.Path)
	case e.Kind == tree.File && e.Flags&index.Partial == 0:
		ch.Entry = e
		ch.NextHash, ch.Flags = line.Hash, e.Flags|index.NextToo
	}
	return ch, nil
}

// oldFolder keeps the folder of an idx that was asked for last: most questions
// come folder by folder, and one folder may hold a million entries.
type oldFolder struct {
	mu      sync.Mutex
	of      *index.Reader
	dir     string
	entries *index.Folder
}

// entryOf is what idx says of a path; Kind None: nothing. From any goroutine.
func (d *dest) entryOf(path string) (index.Entry, error) {
	if d.old == nil {
		return index.Entry{}, nil
	}
	dir, name := split(path)
	l := &d.look
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of != d.old || l.dir != dir {
		entries, err := d.old.Folder(dir)
		if err != nil {
			return index.Entry{}, err
		}
		l.of, l.dir, l.entries = d.old, dir, entries
	}
	if e := l.entries.Find(name); e != nil {
		return *e, nil
	}
	return index.Entry{}, l.entries.Err()
}

// oldEntry is entryOf where a damaged idx is as one that knows nothing.
func (d *dest) oldEntry(path string) index.Entry {
	e, err := d.entryOf(path)
	if err != nil {
		return index.Entry{}
	}
	return e
}

// forgetBelow takes everything below a folder out of the idx: a file was to take
// its place, and only after all of it was gone.
func (d *dest) forgetBelow(to *index.Changes, dir string) error {
	for stack := []string{dir}; len(stack) > 0; {
		dir := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		entries, err := d.old.Folder(dir)
		if err != nil {
			return err
		}
		for e := range entries.All() {
			if e.Kind == tree.Folder {
				stack = append(stack, join(dir, e.Name))
			}
			if err := to.Add(index.Change{Located: index.Located{Dir: dir, Entry: index.Entry{Name: e.Name}}, Gone: true}); err != nil {
				return err
			}
		}
		if err := entries.Err(); err != nil {
			return err
		}
	}
	return nil
}
