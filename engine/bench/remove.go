package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// mounted says that something is mounted inside a place. What is behind it is
// not ours, and no removal may walk into it.
type mounted struct{ place, at string }

func (m *mounted) Error() string {
	return fmt.Sprintf("something is mounted at %s, so nothing of %s was removed; unmount it, then remove that folder by hand, or run a bench there again",
		m.at, m.place)
}

func (m *mounted) Is(target error) bool { return target == ErrStays }

// stragglers is how long the processes of a tool that was stopped may go on to
// write.
const stragglers = 5 * time.Second

// clear removes the tree of this name, through no link and into no mount.
func (p *place) clear(name string) error {
	if p.kept {
		return nil // told already
	}
	end := time.Now().Add(stragglers)
	for {
		err := p.walk(name, false)
		if err == nil {
			err = p.walk(name, true)
		}
		if err == nil || p.kept || time.Now().After(end) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// remove removes the place. What somebody else put into it stays, and is told;
// where that is a mount, all of the place stays.
func (p *place) remove() error {
	defer p.lock.Close() // where something stays, too
	err := p.walk("", false)
	for _, name := range []string{sourceName, copyName} {
		err = errors.Join(err, p.clear(name))
	}
	if p.kept {
		return err
	}
	err = errors.Join(err, p.lock.Close())
	if err == nil {
		err = errors.Join(p.clear(lockName), p.clear(markName))
	}
	if err == nil {
		err = p.rmdir()
	}
	if err != nil {
		return fmt.Errorf("%w: look what is in %s and remove it by hand: %w", ErrStays, p.path, err)
	}
	return nil
}

func (p *place) rmdir() error {
	parent, err := tree.Open(filepath.Dir(p.path))
	if err != nil {
		return err
	}
	return errors.Join(parent.Rmdir(filepath.Base(p.path)), parent.Close())
}

// walk goes through the entry of this name, or through all of the place for "",
// and removes it if it is told to. It ends at the first folder that lies on
// another mount than the folder around the place, and from then on the place is
// kept.
func (p *place) walk(name string, remove bool) error {
	if p.kept {
		return nil
	}
	parent, err := tree.Open(filepath.Dir(p.path))
	if err != nil {
		return err
	}
	defer parent.Close()
	w := walk{remove: remove}
	if w.mount, err = parent.Mount(); err != nil {
		return err
	}
	top, err := parent.Sub(filepath.Base(p.path))
	if err != nil {
		return err
	}
	defer top.Close()
	if err = w.sameMount(top, p.path); err == nil && name == "" {
		err = w.entries(top, p.path)
	} else if err == nil {
		err = w.entry(top, name, filepath.Join(p.path, name))
	}
	if at, ok := errors.AsType[*mounted](err); ok {
		at.place, p.kept = p.path, true
	}
	return err
}

// walk is one way through folders that all lie on one mount.
type walk struct {
	mount  uint64
	remove bool
}

func (w walk) sameMount(d *tree.Dir, path string) error {
	mount, err := d.Mount()
	if err == nil && mount != w.mount {
		err = &mounted{at: path}
	}
	return err
}

func (w walk) entries(d *tree.Dir, path string) error {
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := w.entry(d, name, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// entry is content with one that is gone: tools that end remove files of theirs.
func (w walk) entry(d *tree.Dir, name, path string) error {
	info, err := d.Stat(name)
	switch {
	case err != nil || info.Kind == tree.None:
	case info.Kind == tree.Folder:
		err = w.folder(d, name, path)
	case w.remove:
		err = d.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (w walk) folder(d *tree.Dir, name, path string) error {
	sub, err := d.Sub(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	if err := w.sameMount(sub, path); err != nil {
		return err
	}
	if err := w.entries(sub, path); err != nil || !w.remove {
		return err
	}
	return d.Rmdir(name)
}
