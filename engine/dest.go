package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// dest is one copy in the making: an hour of a target, or a one-shot target.
type dest struct {
	Dest
	*target
	slot    string
	folders *folders // of the copy
	stage   *staging
	fresh   bool  // a preview of a target that is not made yet
	before  State // as found
	old     *index.Reader
	oldFile *os.File
	changes *index.Changes
	merged  bool     // the changes were merged into an idx: they can be only once
	touched *touched // folders whose metadata must be set at the end
	extras  *index.Sorter
	next    *intents

	beginOnce sync.Once
	beginErr  error
	begun     atomic.Bool
	dead      atomic.Pointer[error] // set once: this destination is out of the run
	replaced  atomic.Int64          // replacements let through before the guard's word
	seenN     atomic.Int64          // files and links of the source that this copy is to hold
	settledN  atomic.Int64          // of them: copied, unchanged, or a problem
	settledB  atomic.Int64
	dirty     map[string]bool // folders with renames that no sync has covered; one goroutine's
	seen      *seen           // mode changes; the hours of one target share it
	seenFirst bool            // this destination saves it
	foundN    int64           // files put aside; under mu

	look oldFolder // the folder of the idx that was asked for last

	mu     sync.Mutex
	report Report
	lost   tree.Lost
	notes  map[string]bool
}

// fail takes the destination out of the run. The first error counts.
func (d *dest) fail(err error) {
	if !cancelled(err) {
		d.end(err)
	}
}

// end is fail with an error of the whole run. That work was cancelled is no
// trouble of a destination: what ended the run is told in its place.
func (d *dest) end(err error) { d.dead.CompareAndSwap(nil, &err) }

// try is a step of writing at a destination; one that is out is left alone. The
// error is about the file; trouble of the whole target ends the destination.
func (d *dest) try(step func() error) error {
	if !d.alive() {
		return nil
	}
	err := writeErr(step())
	if fatal(err) && !cancelled(err) {
		d.fail(err)
		return nil
	}
	return err
}

func (d *dest) err() error {
	if p := d.dead.Load(); p != nil {
		return *p
	}
	return nil
}

func (d *dest) alive() bool { return d.dead.Load() == nil }

// note records, once, what a person may want to know.
func (d *dest) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.notes[text] || len(d.notes) == maxNotes {
		return
	}
	d.notes[text] = true
	d.report.Notes = append(d.report.Notes, text)
}

// maxNotes bounds what a report and a state carry: a damaged manifest may have a
// million lines to tell of.
const maxNotes = 20

// trouble records a problem with one file.
func (d *dest) trouble(path string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report.ProblemCount++
	if len(d.report.Problems) < MaxProblems {
		d.report.Problems = append(d.report.Problems, problem(path, err))
	}
}

// settle counts one file of the source of n bytes as done.
func (d *dest) settle(c *Count, n int64) {
	d.settledN.Add(1)
	d.settledB.Add(n)
	d.count(c, n)
}

// count adds one file of n bytes to a counter of the report.
func (d *dest) count(c *Count, n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.Files++
	c.Bytes += n
}

// lose remembers which metadata could not be kept.
func (d *dest) lose(l tree.Lost) {
	if l != (tree.Lost{}) {
		d.mu.Lock()
		d.lost.Owner = d.lost.Owner || l.Owner
		d.lost.Xattr = d.lost.Xattr || l.Xattr
		d.lost.Mode = d.lost.Mode || l.Mode
		d.lost.Times = d.lost.Times || l.Times
		d.mu.Unlock()
	}
}

// record puts an entry into the idx to come.
func (d *dest) record(path string, e index.Entry) error {
	dir, name := split(path)
	e.Name = name
	return d.changes.Add(index.Change{Located: index.Located{Dir: dir, Entry: e}})
}

// drop takes an entry out of the idx to come.
func (d *dest) drop(path string) error {
	dir, name := split(path)
	return d.changes.Add(index.Change{Located: index.Located{Dir: dir, Entry: index.Entry{Name: name}}, Gone: true})
}

// load opens what the comparison needs: the hour's folder, its state and its
// idx. It changes nothing: a folder that is missing stays missing.
func (d *dest) load(scratch string, keepOpen int) (err error) {
	d.slot = slot(d.Hour)
	d.notes = map[string]bool{}
	if d.before, err = d.loadState(); err != nil {
		d.before = State{Content: Mixed, Hour: d.Hour}
		d.note("%v; the hour is compared anew", err)
	}
	root, err := d.openCopy()
	if err != nil {
		return err
	}
	d.folders = newFolders(root, keepOpen)
	d.dirty = map[string]bool{}
	d.changes = index.NewChanges(scratch)
	d.extras = index.NewSorter(scratch)
	d.touched = newTouched(scratch)
	return d.loadIndex(scratch)
}

func (d *dest) loadState() (State, error) {
	if d.own == nil {
		return State{Hour: d.Hour}, nil
	}
	return readState(d.own, d.Hour)
}

// openCopy opens the folder of the copy; nil if an hour's folder is not made yet.
func (d *dest) openCopy() (*tree.Dir, error) {
	switch {
	case d.fresh:
		return nil, nil
	case d.Hour == OneShot:
		return tree.Open(d.dir)
	}
	root, err := d.root.Sub(d.slot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, tree.ErrNotFolder):
		return nil, fmt.Errorf("%w: %s in %s is a link or a file where the folder of that hour belongs; move it away", ErrForeign, d.slot, d.dir)
	}
	return root, err
}

// begin is called before the first change of the copy, and only then does its
// work: the state says "writing" and the manifest steps aside, both durable.
func (d *dest) begin() error {
	d.beginOnce.Do(func() {
		if d.beginErr = writeError(d.doBegin()); d.beginErr == nil {
			d.begun.Store(true)
		}
	})
	return d.beginErr
}

func (d *dest) doBegin() (err error) {
	st := d.before
	st.Content, st.LastRun = Writing, LastRun{ID: d.report.RunID, Started: d.report.Started}
	if err := d.writeState(st); err != nil {
		return fmt.Errorf("write the state of hour %s: %w", d.slot, err)
	}
	if d.before.Content == Sealed {
		d.sweepUnsealed() // of a run that died just after its seal
	}
	aside := []string{".xxh128", ".names"}
	if d.before.Content == Sealed {
		aside = append(aside, ".idx") // the guard compares with it until the next seal
	}
	for _, ext := range aside {
		err := d.own.Rename(d.slot+ext, d.own, d.slot+".was"+ext)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put the manifest of hour %s aside: %w", d.slot, err)
		}
	}
	if err := syncFolder(d.own); err != nil {
		return err
	}
	if d.next, err = openIntents(d.own, d.slot+".next"); err != nil {
		return err
	}
	if d.Hour != OneShot && d.folders.root == nil {
		root, err := subMake(d.root, d.slot)
		if err != nil {
			return err
		}
		d.folders.setRoot(root)
	}
	d.stage, err = openStaging(d.own, d.slot)
	return err
}

func (d *dest) closeOld() {
	if d.oldFile != nil {
		d.oldFile.Close()
		d.oldFile = nil
	}
}

// close ends the destination's work; staged files that were not published go.
func (d *dest) close() {
	d.closeOld()
	if d.folders != nil {
		d.folders.close()
	}
	if d.next != nil {
		d.next.close()
	}
	d.stage.close()
	if d.changes != nil {
		d.changes.Close()
		d.extras.Close()
		d.touched.Close()
	}
	if d.seenFirst {
		d.seen.now.Close()
	}
}
