package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
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
	stack   []place      // last in, first out: few folders wait at once
	more    *index.Spill // those that stack has no room for, as of a folder of a million folders
	waiting int          // in more
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
	s.more, s.waiting = index.NewSpill(s.m.Scratch), 0
	defer s.more.Close()
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
	for len(s.stack) == 0 && s.waiting == 0 && s.working > 0 && s.err == nil {
		s.wake.Wait()
	}
	if len(s.stack) == 0 && s.waiting > 0 {
		s.fetch()
	}
	if len(s.stack) == 0 || s.err != nil {
		return place{}, false
	}
	p := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	s.working++
	return p, true
}

// manyFolders is how many places wait in memory. Tests take less.
var manyFolders = 8 << 10

// push has a place visited later.
func (s *scanner) push(p place) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wake.Signal()
	if len(s.stack) < manyFolders {
		s.stack = append(s.stack, p)
		return nil
	}
	s.waiting++
	return spillError(s.more.Put(p.encode()))
}

// fetch takes a place that stack had no room for. mu is held.
func (s *scanner) fetch() {
	rec, _, err := s.more.Next()
	s.waiting--
	var p place
	if err == nil {
		p, err = decodePlace(rec)
	}
	if err == nil {
		s.stack = append(s.stack, p)
	} else if s.err == nil {
		s.err = spillError(err)
	}
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

// listing is a copy's side of a folder: its names and what was recorded.
type listing struct {
	dir     *tree.Dir
	done    func()
	names   *index.Names
	folded  map[string]string // fold of a name -> name; nil where the volume does not fold
	old     *index.Folder
	trusted bool // names and stats come from the idx
}

// has tells whether a name is listed.
func (l *listing) has(name string) bool {
	_, ok := l.names.Find(name)
	return ok
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
	for at, name := range v.names.All() {
		v.now = at
		if err := v.sourceEntry(name); err != nil {
			return err
		}
	}
	if err := v.names.Err(); err != nil {
		return spillError(err) // whoever is not in a list that broke off is not gone
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
	return v.wholeRead()
}

// visit is the work on one folder.
type visit struct {
	*scanner
	place
	src    *tree.Dir
	done   func()
	names  *index.Names // of the source
	marks  []stance     // of each of them
	now    int          // the one that is looked at
	copies []*listing
	refs   []*index.Folder   // of each target, in its newest sealed hour; nil: no guard
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
		if l != nil {
			l.names.Close()
		}
	}
	v.names.Close()
}

// limit is how many of its names are held in memory: all, where they must be
// found by what they fold to.
func (l *listing) limit() int {
	if l.folded != nil {
		return math.MaxInt
	}
	return bigFolder
}

// stance is what a name of the source means for the copies.
type stance uint8

const (
	kept   stance = 1 << iota // no copy may lose it by this run
	wanted                    // a file or link that the copies are to have
)

// marked tells whether the source has a name of that stance.
func (v *visit) marked(name string, s stance) bool {
	at, ok := v.names.Find(name)
	return ok && v.marks[at]&s != 0
}

// wholeRead tells whether all lists of this folder could be read to their ends. A
// list that broke off ends the run, or what depends on it: names that it kept
// back look as if nobody had them, and nothing was removed yet.
func (v *visit) wholeRead() error {
	errs := []error{v.names.Err()}
	for i, l := range v.copies {
		if l == nil {
			continue
		}
		errs = append(errs, l.names.Err())
		if err := l.old.Err(); err != nil {
			v.dests[i].fail(writeError(err))
		}
	}
	for i, f := range v.refs {
		if f.Err() != nil {
			v.targets[i].brake.unsure.Store(true)
		}
	}
	return spillError(errors.Join(errs...))
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
		v.names, err = v.listAll(v.src, bigFolder, nil)
	}
	switch {
	case errors.Is(err, index.ErrScratch): // first: it may be a missing folder too
		return false, spillError(err)
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
	v.marks = make([]stance, v.names.Len())
	return true, nil
}

// bigFolder is how many names of a folder are held in memory: with more its list
// goes to a file, so that those of all walkers stay within some 30 MB. Tests take
// less.
var bigFolder = 64 << 10

// listAll lists a folder, but for the names that leave tells.
func (v *visit) listAll(dir *tree.Dir, limit int, leave func(name string) bool) (*index.Names, error) {
	return index.ListNames(v.m.Scratch, limit, func(take func([]string) error) error {
		return dir.List(func(names []string) error {
			return take(slices.DeleteFunc(names, func(n string) bool {
				return v.only != "" && n != v.only || leave != nil && leave(n)
			}))
		})
	})
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
		if l.old, err = d.old.Folder(v.path); err != nil {
			d.note("%v; those files are compared by content", err)
		}
	}
	if v.at[i] == absent {
		if v.source == there {
			return l, v.sink.folder(d, v.path, tree.Info{})
		}
		return l, nil
	}
	if v.m.TrustIndex && v.only == "" && d.old != nil && d.before.Content == Sealed {
		return l, v.trust(l)
	}
	return l, v.list(i, l)
}

// trust takes for a copy's folder what the idx says of it.
func (v *visit) trust(l *listing) (err error) {
	l.trusted = true
	l.names, err = index.ListNames(v.m.Scratch, l.limit(), func(take func([]string) error) error {
		some := make([]string, 0, 256)
		for e := range l.old.All() {
			if some = append(some, e.Name); len(some) < cap(some) {
				continue
			}
			if err := take(some); err != nil {
				return err
			}
			some = some[:0]
		}
		return take(some)
	})
	return spillError(err)
}

// list reads a copy's folder.
func (v *visit) list(i int, l *listing) (err error) {
	d := v.dests[i]
	if l.dir, l.done, err = d.folders.get(v.path); err == nil {
		err = v.m.step("list copy", v.path)
	}
	if err == nil {
		var leave func(string) bool
		if v.path == "" && d.Hour == OneShot {
			leave = systems // a drive's root may be the copy
		}
		l.names, err = v.listAll(l.dir, l.limit(), leave)
	}
	if errors.Is(err, index.ErrScratch) {
		return spillError(err)
	}
	if err != nil {
		if e := writeError(err); fatal(e) {
			d.fail(e)
		}
		v.sink.trouble(d, v.path, fileErr(CauseListing, "folder of the copy cannot be listed; it is left as it is: %w", err))
		return errSkip
	}
	if l.folded != nil {
		for _, n := range l.names.All() {
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
