package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/manifest"
	"github.com/hourhand/hourhand/engine/tree"
)

// Verify reads every byte of a copy past the cache, as far as the system allows,
// and compares it with the manifest. An hour that is being written, or was left
// half-way, is judged by what it was and what it was becoming. What is found is
// in the Audit; the error is for what kept Verify from looking: ErrNoTarget,
// ErrForeign, ErrUsage for an hour that was never written, ctx's. With Repair the
// target must be free of runs: ErrLocked.
func Verify(ctx context.Context, h Hour, notify func(Progress)) (Audit, error) {
	a, err := newAudit(h)
	if err != nil {
		return Audit{Dest: h.Dest}, err
	}
	defer a.close()
	stop := a.meter.watch(notify)
	defer stop()
	err = a.files(ctx)
	if err == nil {
		err = a.strangers(ctx)
	}
	if err == nil {
		err = a.save()
	}
	a.overtaken()
	a.out.Ended = time.Now()
	return a.out, err
}

// overtaken takes back what a run that worked meanwhile made untrue: without the
// lock, a verification sees a copy in the making.
func (a *audit) overtaken() {
	if a.locked {
		return
	}
	now, err := readState(a.d.own, a.d.Hour)
	was := a.d.before
	if err == nil && now.Content == was.Content && now.RunID == was.RunID && now.LastRun.ID == was.LastRun.ID {
		return
	}
	a.out.Interrupted = true
	a.out.Rot, a.out.Edited, a.out.Missing, a.out.Extra = 0, 0, 0, 0
	a.out.Found = slices.DeleteFunc(a.out.Found, func(f Found) bool { return f.Finding != FindingUnreadable && f.Finding != FindingHealed })
	a.out.FoundCount = int64(len(a.out.Found))
}

// audit is one verification at work.
type audit struct {
	h      Hour
	d      *dest
	locked bool // nobody else works here: results may be saved
	meter  *meter
	src    *source // for repairs; nil: siblings only
	from   *folders

	mu  sync.Mutex
	out Audit
}

func newAudit(h Hour) (*audit, error) {
	if h.Gate == nil {
		h.Gate = &Gate{}
	}
	t, err := openMarked(h.Target)
	if err != nil {
		return nil, err
	}
	a := &audit{h: h, d: &dest{Dest: h.Dest, target: t}, meter: newMeter(h.Gate, time.Now())}
	a.out = Audit{Dest: h.Dest, Started: time.Now()}
	if err := a.open(); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *audit) open() (err error) {
	if err = a.d.take(); err == nil {
		a.locked = true
		err = a.d.prepare()
	}
	if err != nil && a.h.Repair {
		return err // without it, a copy that is in use or read-only can still be read
	}
	if err = a.d.load("", openFolders(1)); err != nil {
		return err
	}
	a.out.Content = a.d.before.Content
	a.out.Interrupted = a.out.Content != Sealed
	if a.d.folders.root == nil || a.d.before.Content == Empty {
		return fmt.Errorf("%w: hour %s of %s was never written", ErrUsage, a.d.slot, a.h.Target)
	}
	a.meter.enter("verifying")
	a.meter.expect(a.d.before.Files)
	a.meter.ready.Store(&[]*dest{a.d})
	if a.h.Repair && a.h.Source != "" {
		if a.src, err = openSource(a.h.Source); err == nil {
			a.from = newFolders(a.src.root, openFolders(1))
		}
	}
	return nil
}

func (a *audit) close() {
	a.d.close()
	if a.from != nil {
		a.from.close()
	}
	if a.locked {
		a.d.sweep()
	}
	a.d.target.close()
}

// expected is one file and what its bytes may be.
type expected struct {
	path  string
	entry index.Entry // Kind None: the idx does not know it
	hash  [16]byte
}

// files compares every file that the copy should hold, several at once.
func (a *audit) files(ctx context.Context) error {
	work := make(chan expected)
	var wg sync.WaitGroup
	for range max(4, a.h.Workers) {
		wg.Go(func() {
			for x := range work {
				if ctx.Err() == nil {
					a.file(ctx, x)
				}
			}
		})
	}
	err := a.each(func(x expected) error {
		select {
		case work <- x:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	close(work)
	wg.Wait()
	return errors.Join(err, ctx.Err())
}

// each yields the files to compare: a sealed hour's from its manifest, another's
// from what is known of it.
func (a *audit) each(yield func(expected) error) error {
	if a.out.Interrupted {
		return a.eachKnown(yield)
	}
	m, err := openManifest(a.d.own, a.d.slot)
	if err != nil {
		return fmt.Errorf("open the manifest of hour %s: %w", a.d.slot, err)
	}
	defer m.close()
	sum, err := manifest.Sum(m.main, m.namesReader())
	if err == nil && sum.String() != a.d.before.Manifest {
		a.report("", FindingRot, fmt.Sprintf("the manifest %s/%s.xxh128 is not the one that was sealed; files are compared with what it says now", own, a.d.slot))
	}
	if err == nil {
		err = m.rewind()
	}
	if err != nil {
		return fmt.Errorf("read the manifest of hour %s: %w", a.d.slot, err)
	}
	known := a.known()
	defer known.stop()
	for line, err := range m.lines() {
		if err != nil {
			a.report("", FindingRot, err.Error())
			continue
		}
		if err := yield(expected{line.Path, known.entry(line.Path), line.Hash}); err != nil {
			return err
		}
	}
	return nil
}

// merge walks the idx beside a list in the same order.
type merge struct {
	next func() (index.Located, error, bool)
	stop func()
	at   index.Located
	ok   bool
}

// known begins such a walk. A damaged idx ends it: what follows is not known.
func (a *audit) known() *merge {
	if a.d.old == nil {
		return &merge{stop: func() {}}
	}
	m := &merge{}
	m.next, m.stop = iter.Pull2(a.d.old.Walk())
	m.step()
	return m
}

func (m *merge) step() {
	var err error
	m.at, err, m.ok = m.next()
	m.ok = m.ok && err == nil
}

// entry is what the idx says of a path; paths must be asked in their order.
func (m *merge) entry(path string) index.Entry {
	for m.ok && index.ComparePaths(m.at.Path(), path) < 0 {
		m.step()
	}
	if m.ok && m.at.Path() == path {
		return m.at.Entry
	}
	return index.Entry{}
}

func (a *audit) eachKnown(yield func(expected) error) error {
	if a.d.old == nil {
		return nil
	}
	for l, err := range a.d.old.Walk() {
		if err != nil {
			return fmt.Errorf("read the idx of hour %s: %w", a.d.slot, err)
		}
		if l.Kind != tree.File {
			continue
		}
		if err := yield(expected{l.Path(), l.Entry, l.Hash}); err != nil {
			return err
		}
	}
	return nil
}

// file compares one file.
func (a *audit) file(ctx context.Context, x expected) {
	a.meter.at(x.path)
	defer a.d.settledN.Add(1)
	f, now, err := openAt(a.d.folders, x.path)
	if err != nil {
		a.judge(x, err)
		return
	}
	defer f.Close()
	hash, past, err := a.d.readBack(f, a.counting(around(ctx, a.h.Gate, nil)))
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		a.report(x.path, FindingUnreadable, err.Error())
		return
	}
	a.d.settledB.Add(now.Size)
	f.Close() // Windows replaces no file that is open
	a.compare(ctx, x, now, hash, past)
}

// counting adds what a step read to the progress.
func (a *audit) counting(step tree.Step) tree.Step {
	return func(n int, do func() error) error {
		err := step(n, do)
		if err == nil {
			a.meter.copied.Add(int64(n))
		}
		return err
	}
}

// judge settles a file that could not be opened.
func (a *audit) judge(x expected, err error) {
	switch {
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, tree.ErrNotFile) && !errors.Is(err, tree.ErrNotFolder):
		a.report(x.path, FindingUnreadable, err.Error())
	case a.out.Interrupted:
		// a removal that was under way, or an addition that was not: both are right
	case errors.Is(err, fs.ErrNotExist):
		a.report(x.path, FindingMissing, "it is not there any more")
	default:
		a.report(x.path, FindingEdited, "it is no regular file any more")
	}
}

// compare tells equal, rot and edited apart: the bytes by their hash, the two
// others by whether the stat is as it was sealed.
func (a *audit) compare(ctx context.Context, x expected, now tree.Info, have [16]byte, past bool) {
	switch {
	case have == x.hash, x.entry.Flags&index.NextToo != 0 && have == x.entry.NextHash:
		a.equal(x, now, past)
	case a.out.Interrupted:
		a.report(x.path, FindingInterrupted, "neither what it was nor what it was becoming: the run that was cut short left it, or somebody edited it")
	case x.entry.Kind == tree.File && x.entry.Flags&index.Partial == 0 && (now.Size != x.entry.Size || now.MTime != x.entry.Target.MTime):
		a.report(x.path, FindingEdited, "changed "+moment(now.MTime))
	case a.h.Repair && x.entry.Kind == tree.File && x.entry.Flags&index.Partial == 0 && a.heal(ctx, x, now):
		a.report(x.path, FindingHealed, "")
	default:
		a.report(x.path, FindingRot, "its bytes changed although its size and time did not")
	}
}

func (a *audit) equal(x expected, now tree.Info, past bool) {
	how := a.d.proved(past)
	a.mu.Lock()
	for _, c := range []*Count{&a.out.Equal, a.out.Verified.of(how)} {
		c.Files++
		c.Bytes += now.Size
	}
	a.mu.Unlock()
	if x.entry.Kind == tree.File && x.entry.Flags&index.Partial == 0 && !a.out.Interrupted {
		e := x.entry
		e.How, e.Proved = how, a.out.Started.Unix()
		a.d.record(x.path, e)
	}
}

// report adds a finding.
func (a *audit) report(path string, f Finding, detail string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch f {
	case FindingRot:
		a.out.Rot++
	case FindingEdited:
		a.out.Edited++
	case FindingMissing:
		a.out.Missing++
	case FindingExtra:
		a.out.Extra++
	case FindingHealed:
		a.out.Healed++
	case FindingUnreadable:
		a.out.Unreadable++
	}
	a.meter.problems.Add(1)
	a.out.FoundCount++
	if len(a.out.Found) < MaxProblems {
		a.out.Found = append(a.out.Found, Found{path, f, detail})
	}
}

// strangers finds files in the copy that nobody put there. In an unsealed hour
// nothing can be called strange.
func (a *audit) strangers(ctx context.Context) error {
	if a.out.Interrupted || a.d.old == nil {
		return nil
	}
	for stack := []string{""}; len(stack) > 0; {
		dir := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if err := a.h.Gate.open(ctx); err != nil {
			return err
		}
		below, err := a.strangersIn(dir)
		if err != nil {
			a.report(dir, FindingUnreadable, err.Error())
		}
		stack = append(stack, below...)
	}
	return nil
}

func (a *audit) strangersIn(dir string) (below []string, err error) {
	in, done, err := a.d.folders.get(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	names, err := index.ListNames(os.TempDir(), bigFolder, in.List)
	if err != nil {
		return nil, err
	}
	defer names.Close()
	folder, err := a.d.old.Folder(dir)
	if err != nil {
		return nil, err
	}
	known := a.spelling(folder)
	for _, name := range names.All() {
		spelled, ours := known(name)
		if folder.Err() != nil {
			break // what it does not say any more is not strange
		}
		if ours {
			name = spelled
		}
		path := join(dir, name)
		if path == own && a.d.Hour == OneShot {
			continue
		}
		info, err := in.Stat(name)
		switch {
		case err != nil:
			a.report(path, FindingUnreadable, err.Error())
		case info.Kind == tree.Folder:
			below = append(below, path)
		case !ours:
			a.report(path, FindingExtra, "not in the manifest: somebody put it there")
		}
	}
	return below, errors.Join(names.Err(), folder.Err())
}

// spelling gives what tells how the idx spells a name of a folder. On volumes that
// take several spellings for one it holds the folder's names in memory.
func (a *audit) spelling(folder *index.Folder) func(name string) (string, bool) {
	if !a.d.caps.FoldsCase && !a.d.caps.FoldsForm {
		return func(name string) (string, bool) { return name, folder.Find(name) != nil }
	}
	spelled := map[string]string{}
	for e := range folder.All() {
		spelled[tree.Fold(e.Name, a.d.caps)] = e.Name
	}
	return func(name string) (string, bool) {
		s, ok := spelled[tree.Fold(name, a.d.caps)]
		return s, ok
	}
}

// save notes in idx and state how and when files were proved or healed, unless
// somebody else works on the copy.
func (a *audit) save() error {
	d := a.d
	if !a.locked || d.syncer == nil || a.out.Interrupted || d.changes.Len() == 0 {
		return nil
	}
	st := d.before
	idx, err := d.writeIndex(&st, false)
	if err != nil {
		return fmt.Errorf("note the verification of hour %s: %w", d.slot, writeError(err))
	}
	if err = d.installIndex(idx); err == nil {
		err = d.writeState(st)
	}
	return writeError(err)
}
