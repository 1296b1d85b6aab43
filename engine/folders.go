package engine

import (
	"container/list"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// folders keeps the opened folders of one tree, by path. A folder is reached
// from its parent's handle, component by component, so that no link is ever
// followed; the most recently used stay open.
type folders struct {
	mu   sync.Mutex
	root *tree.Dir // nil: the tree does not exist yet
	keep int
	open map[string]*list.Element // of *folder
	idle *list.List               // most recently used first
}

type folder struct {
	path string
	dir  *tree.Dir
	uses int
}

func newFolders(root *tree.Dir, keep int) *folders {
	return &folders{root: root, keep: keep, open: map[string]*list.Element{}, idle: list.New()}
}

func (f *folders) setRoot(root *tree.Dir) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.root = root
}

// get opens the folder at path ("" is the root). The caller calls done when it
// no longer needs it. A tree that does not exist yet is fs.ErrNotExist.
func (f *folders) get(p string) (d *tree.Dir, done func(), err error) {
	if p == "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.root == nil {
			return nil, nil, fs.ErrNotExist
		}
		return f.root, func() {}, nil
	}
	if d, done = f.cached(p); d != nil {
		return d, done, nil
	}
	parent, release, err := f.nearest(p)
	if err != nil {
		return nil, nil, err
	}
	return f.descend(parent, release, p)
}

// openAt opens a regular file of a tree.
func openAt(in *folders, path string) (*os.File, tree.Info, error) {
	dir, name := split(path)
	d, done, err := in.get(dir)
	if err != nil {
		return nil, tree.Info{}, err
	}
	defer done()
	return d.OpenFile(name)
}

// cached hands out an open folder, nil if it is not open.
func (f *folders) cached(p string) (*tree.Dir, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.open[p]
	if e == nil {
		return nil, nil
	}
	return f.use(e)
}

func (f *folders) use(e *list.Element) (*tree.Dir, func()) {
	h := e.Value.(*folder)
	h.uses++
	f.idle.MoveToFront(e)
	return h.dir, func() { f.release(h) }
}

func (f *folders) release(h *folder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h.uses--
	f.trim()
}

// nearest finds the deepest open folder above p; it is a loop, not a recursion,
// since a tree may be thousands of folders deep.
func (f *folders) nearest(p string) (at string, release func(), err error) {
	for at = parent(p); at != ""; at = parent(at) {
		if d, done := f.cached(at); d != nil {
			return at, done, nil
		}
	}
	return "", func() {}, nil
}

// descend opens what lies between an open folder and p.
func (f *folders) descend(at string, release func(), p string) (*tree.Dir, func(), error) {
	for at != p {
		rest := strings.TrimPrefix(p[len(at):], "/")
		name, _, _ := strings.Cut(rest, "/")
		d, done, err := f.get(at)
		release()
		if err != nil {
			return nil, nil, err
		}
		sub, err := d.Sub(name)
		done()
		if err != nil {
			return nil, nil, err
		}
		at = join(at, name)
		if d, release = f.adopt(at, sub); at == p {
			return d, release, nil
		}
	}
	return nil, nil, fs.ErrInvalid // get asks for a path below at only
}

// adopt puts an opened folder into the cache; if another goroutine was quicker,
// its handle serves.
func (f *folders) adopt(p string, d *tree.Dir) (*tree.Dir, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.open[p]; e != nil {
		d.Close()
		return f.use(e)
	}
	e := f.idle.PushFront(&folder{path: p, dir: d})
	f.open[p] = e
	return f.use(e)
}

// trim closes the folders that were not used for longest.
func (f *folders) trim() {
	for e := f.idle.Back(); e != nil && f.idle.Len() > f.keep; {
		before := e.Prev()
		if h := e.Value.(*folder); h.uses == 0 {
			h.dir.Close()
			delete(f.open, h.path)
			f.idle.Remove(e)
		}
		e = before
	}
}

// forget drops a folder that is going to be removed or replaced.
func (f *folders) forget(p string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.open[p]; e != nil && e.Value.(*folder).uses == 0 {
		e.Value.(*folder).dir.Close()
		delete(f.open, p)
		f.idle.Remove(e)
	}
}

func (f *folders) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for e := f.idle.Front(); e != nil; e = e.Next() {
		e.Value.(*folder).dir.Close()
	}
	f.idle.Init()
	clear(f.open)
	if f.root != nil {
		f.root.Close()
		f.root = nil
	}
}

// parent is the folder of a path, "" for the root's entries.
func parent(p string) string {
	dir, _ := split(p)
	return dir
}

// split cuts a path into its folder and its name.
func split(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return "", p
	}
	return p[:i], p[i+1:]
}

// join is the inverse of split.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// touched collects the folders whose metadata must be set at the end of a run,
// deepest first: setting a mode may lock us out of what lies below.
type touched struct{ s *index.Sorter }

func newTouched(scratch string) *touched { return &touched{index.NewSorter(scratch)} }

// add is called for each change in a folder; of many for one folder, one counts.
func (t *touched) add(p string) error { return t.s.Add(deepestFirst(p), []byte(p)) }

func (t *touched) Close() error { return t.s.Close() }

// all yields each folder once, deepest first.
func (t *touched) all() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		last := "\x00"
		for _, p := range t.s.Sorted() {
			if string(p) == last {
				continue
			}
			last = string(p)
			if !yield(last) {
				return
			}
		}
	}
}

// deepestFirst makes a sort key by which what lies below a folder comes before
// the folder: every byte is complemented, so order turns round, and the end is
// the largest.
func deepestFirst(p string) []byte {
	key := make([]byte, len(p)+2)
	for i := range len(p) {
		if p[i] == '/' {
			key[i] = 0xff
		} else {
			key[i] = ^p[i]
		}
	}
	key[len(p)], key[len(p)+1] = 0xff, 0xff
	return key
}
