package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/hourhand/hourhand/engine/exclude"
	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// walkers is how many folders are compared at once. More than four gained
// nothing on a warm tree and little on a cold one (2 cores, 100,000 and
// 1,000,000 files).
const walkers = 4

// sink takes what a scan finds. A run acts on it, a preview prints it. Its
// methods are called from several goroutines; an error ends the scan.
type sink interface {
	// entry: a file or link for which at least one destination needs something.
	entry(t *task) error
	// linked: a file with several names; what it needs is known when all names are.
	linked(t *task) error
	// folder: a folder of the source that is missing (now.Kind None) or differs.
	folder(d *dest, path string, now tree.Info) error
	// extra: an entry of the copy that the source does not have.
	extra(d *dest, path string, now tree.Info, o owner) error
	// swap: a folder stands against something else; it is visited again when
	// removals are allowed.
	swap(d *dest, path string) error
	// recase: a name of the copy differs from the source's only in case or form.
	recase(d *dest, dir, have, want string) error
	// adopted: an entry that equals its source by stat and is new to the idx.
	adopted(d *dest, path string, src, now tree.Info, old *index.Entry) error
	// gone: the idx knows an entry that neither side has.
	gone(d *dest, dir, name string) error
	// trouble: a problem that keeps everything below path as it is.
	trouble(d *dest, path string, err error)
}

// scanner walks source and copies in lock-step, folder by folder, several
// folders at once. It never waits for those who act on what it finds.
type scanner struct {
	src     *source
	folders *folders // of the source
	dests   []*dest
	targets []*target
	compare []*comparer // of each destination
	rules   *exclude.Rules
	m       *Mirror
	sink    sink
	meter   *meter

	mu      sync.Mutex
	wake    *sync.Cond
	stack   []place // last in, first out: few folders wait at once
	working int
	err     error
}

// side tells how a folder stands on one side.
type side uint8

const (
	absent side = iota
	there
	out // not to be looked at: unknown, or in the way
)

// place is a folder to visit.
type place struct {
	path   string
	source side
	at     []side         // of each destination
	known  []*index.Entry // what each destination's idx says of the folder; nil: nothing
	only   string         // visit just this entry of the folder
}

// scan visits everything below the given places. It returns the first error of
// the sink, or ctx's.
func (s *scanner) scan(ctx context.Context, places ...place) error {
	s.wake = sync.NewCond(&s.mu)
	s.stack, s.err = append([]place(nil), places...), nil
	stop := context.AfterFunc(ctx, func() { s.end(ctx.Err()) })
	defer stop()
	var wg sync.WaitGroup
	for range walkers {
		wg.Go(func() { s.work(ctx) })
	}
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *scanner) work(ctx context.Context) {
	for {
		p, ok := s.pop()
		if !ok {
			return
		}
		err := s.m.Gate.open(ctx)
		if err == nil {
			err = s.visit(p)
		}
		s.mu.Lock()
		s.working--
		s.mu.Unlock()
		if err != nil {
			s.end(err)
		}
		s.wake.Broadcast()
	}
}

func (s *scanner) pop() (place, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.stack) == 0 && s.working > 0 && s.err == nil {
		s.wake.Wait()
	}
	if len(s.stack) == 0 || s.err != nil {
		return place{}, false
	}
	p := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	s.working++
	return p, true
}

func (s *scanner) push(p place) {
	s.mu.Lock()
	s.stack = append(s.stack, p)
	s.mu.Unlock()
	s.wake.Signal()
}

func (s *scanner) end(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.wake.Broadcast()
}

// root is the place where a scan begins.
func (s *scanner) root() place {
	p := place{source: there, at: make([]side, len(s.dests))}
	for i, d := range s.dests {
		if d.folders.root != nil {
			p.at[i] = there
		}
	}
	return p
}

// listing is one side of a folder: its names, sorted, and what was recorded.
type listing struct {
	dir     *tree.Dir
	done    func()
	names   []string
	at      int
	folded  map[string]string // fold of a name -> name; nil where the volume does not fold
	old     []index.Entry
	oldAt   cursor
	trusted bool // names and stats come from the idx
}

// has tells whether a name is listed; names must be asked in order.
func (l *listing) has(name string) bool {
	for l.at < len(l.names) && l.names[l.at] < name {
		l.at++
	}
	return l.at < len(l.names) && l.names[l.at] == name
}

// visit compares one folder.
func (s *scanner) visit(p place) error {
	v := &visit{scanner: s, place: p, seen: make([]map[string]bool, len(s.dests))}
	defer v.close()
	if ok, err := v.openSource(); !ok || err != nil {
		return err
	}
	if err := v.openCopies(); err != nil {
		return err
	}
	v.openReferences()
	for _, name := range v.names {
		if err := v.sourceEntry(name); err != nil {
			return err
		}
	}
	for i := range s.dests {
		if p.at[i] == out || !s.dests[i].alive() {
			continue
		}
		if err := v.extras(i); err != nil {
			return err
		}
		if err := v.forgotten(i); err != nil {
			return err
		}
	}
	v.judgeReferences()
	return nil
}

// visit is the work on one folder.
type visit struct {
	*scanner
	place
	src    *tree.Dir
	done   func()
	names  []string // of the source, sorted
	keeps  []string // names that no copy may lose by this run, sorted
	wants  []string // files and links that the copies are to have, sorted
	copies []*listing
	refs   []*cursor         // of each target, in its newest sealed hour; nil: no guard
	seen   []map[string]bool // folded names of the source, of each copy on a volume that folds
}

func (v *visit) close() {
	if v.done != nil {
		v.done()
	}
	for _, l := range v.copies {
		if l != nil && l.done != nil {
			l.done()
		}
	}
}

// openSource lists the source's folder. ok false: it is left alone, with all
// that is below it.
func (v *visit) openSource() (ok bool, err error) {
	if v.source != there {
		return true, nil
	}
	if v.src, v.done, err = v.scanner.folders.get(v.path); err == nil {
		err = v.m.step("list", v.path)
	}
	if err == nil && v.path != "" {
		var mount uint64
		if mount, err = v.src.Mount(); err == nil && mount != v.scanner.src.mount {
			v.leave(func(l *LeftOut) { l.Mount++ })
			return false, nil
		}
	}
	if err == nil {
		v.names, err = v.src.Names()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, tree.ErrNotFolder):
		if v.path != "" {
			return false, nil // vanished since it was listed: the next run sees
		}
	}
	if err != nil {
		if v.path == "" {
			return false, fmt.Errorf("%w: %w", ErrNoSource, err)
		}
		v.troubleAll(v.path, fileErr(CauseListing, "folder cannot be listed; nothing below it is removed: %w", err))
		return false, nil
	}
	if v.only != "" {
		v.names = slices.DeleteFunc(v.names, func(n string) bool { return n != v.only })
	}
	slices.Sort(v.names)
	return true, nil
}

// openCopies lists the folder in each copy and makes it where it is missing.
func (v *visit) openCopies() error {
	v.copies = make([]*listing, len(v.dests))
	for i, d := range v.dests {
		if v.at[i] == out || !d.alive() {
			continue
		}
		l, err := v.openCopy(i, d)
		if errors.Is(err, errSkip) {
			v.at[i] = out
			continue
		}
		if err != nil {
			return err
		}
		v.copies[i] = l
	}
	return nil
}

var errSkip = errors.New("skip")

func (v *visit) openCopy(i int, d *dest) (*listing, error) {
	l := &listing{}
	if d.caps.FoldsCase || d.caps.FoldsForm {
		l.folded = map[string]string{}
	}
	if d.old != nil {
		var err error
		if l.old, _, err = d.old.Dir(v.path); err != nil {
			d.note("%v; those files are compared by content", err)
			l.old = nil
		}
		l.oldAt.entries = l.old
	}
	if v.at[i] == absent {
		if v.source == there {
			return l, v.sink.folder(d, v.path, tree.Info{})
		}
		return l, nil
	}
	if v.m.TrustIndex && v.only == "" && d.old != nil && d.before.Content == Sealed {
		l.trusted = true
		for _, e := range l.old {
			l.names = append(l.names, e.Name)
		}
		return l, nil
	}
	return l, v.list(i, l)
}

// list reads a copy's folder.
func (v *visit) list(i int, l *listing) (err error) {
	d := v.dests[i]
	if l.dir, l.done, err = d.folders.get(v.path); err == nil {
		err = v.m.step("list copy", v.path)
	}
	if err == nil {
		l.names, err = l.dir.Names()
	}
	if err != nil {
		if e := writeError(err); fatal(e) {
			d.fail(e)
		}
		v.sink.trouble(d, v.path, fileErr(CauseListing, "folder of the copy cannot be listed; it is left as it is: %w", err))
		return errSkip
	}
	if v.only != "" {
		l.names = slices.DeleteFunc(l.names, func(n string) bool { return n != v.only })
	}
	if v.path == "" && d.Hour == OneShot {
		l.names = slices.DeleteFunc(l.names, systems) // a drive's root may be the copy
	}
	slices.Sort(l.names)
	if l.folded != nil {
		for _, n := range l.names {
			l.folded[tree.Fold(n, d.caps)] = n
		}
	}
	return v.compareFolder(i, l)
}

// compareFolder asks for the folder's own metadata to be set where it differs.
func (v *visit) compareFolder(i int, l *listing) error {
	d := v.dests[i]
	if v.source != there || v.only != "" {
		return nil
	}
	src, err := v.src.Info()
	if err != nil {
		return nil // the source's folder is going; the next run sees
	}
	now, err := l.dir.Info()
	if err != nil {
		return nil
	}
	if tree.SameMeta(src, now, d.caps) && (v.path == "" || v.folderKnown(i, src, now)) {
		return nil
	}
	return v.sink.folder(d, v.path, now)
}

// folderKnown tells whether idx holds both sides of a folder as they are, so
// that its xattrs need no look.
func (v *visit) folderKnown(i int, src, now tree.Info) bool {
	if v.known == nil || v.known[i] == nil || v.known[i].Kind != tree.Folder {
		return false
	}
	e := v.known[i]
	return sameStamp(stamp(src), e.Source, v.scanner.src.vol.StableIDs) && sameStamp(stamp(now), e.Target, v.dests[i].vol.StableIDs)
}

// leave counts something left out, for every destination.
func (v *visit) leave(add func(*LeftOut)) {
	for i, d := range v.dests {
		if v.at[i] != out {
			d.mu.Lock()
			add(&d.report.LeftOut)
			d.mu.Unlock()
		}
	}
}

func (v *visit) troubleAll(path string, err error) {
	for i, d := range v.dests {
		if v.at[i] != out && d.alive() {
			v.sink.trouble(d, path, err)
		}
	}
}
