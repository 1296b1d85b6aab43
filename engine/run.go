package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourhand/hourhand/engine/exclude"
	"github.com/hourhand/hourhand/engine/governor"
	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// Run makes every destination equal to the source and seals it. notify, if not
// nil, receives a snapshot at most four times a second and one at the end, from
// a goroutine of its own; it may take its time. There is one report for each
// destination, in their order; the error is the worst of theirs, nil if all are
// done or partial. Several runs may go on at once on different targets.
func Run(ctx context.Context, m Mirror, notify func(Progress)) ([]Report, error) {
	r := newRun(m)
	defer r.close()
	stop := r.meter.watch(notify)
	defer stop()
	err := r.open(ctx)
	if err == nil {
		err = r.work(ctx)
	}
	return r.conclude(ctx, err)
}

// run is one run at work.
type run struct {
	m       Mirror
	started time.Time
	src     *source
	sources *folders // the source's opened folders
	rules   *exclude.Rules
	targets []*target
	dests   []*dest // those that could be opened, in the order of m.Dests
	all     []*dest // of m.Dests
	scanner *scanner
	meter   *meter
	gov     *governor.Governor
	// spinning: a drive of the run seeks; it is used through the cache, which
	// brings its writes together
	spinning bool

	tasks  *index.Spill  // found by the scan, worked on at once
	late   *index.Spill  // replacements that wait for the guard's word
	links  *index.Sorter // files with several names, by inode
	swaps  swaps
	lateN  atomic.Int64
	budget atomic.Int64 // bytes that may still be compared because only ctime or file id differ
	serial atomic.Uint64
	read   atomic.Int64 // ns since 1970 when the source was last read

	retryMu sync.Mutex
	retries []*task
}

// checkBudget bounds how much a run reads again only because ctimes or file ids
// changed, as after chmod -R: what is beyond is marked and compared at the next
// visit. 16 GiB are about two minutes of a disk.
const checkBudget = 16 << 30

// openFolders is how many folders of each tree stay open between uses, so that
// those of all copies together with two batches of files stay below the 4,096
// descriptors that systems allow by default.
func openFolders(copies int) int { return max(8, 1200/(copies+1)) }

func newRun(m Mirror) *run {
	if m.RunID == "" {
		m.RunID = newID()
	}
	if m.Scratch == "" {
		m.Scratch = os.TempDir()
	}
	if m.Retries == 0 {
		m.Retries = 2
	}
	if m.RetryWait == 0 {
		m.RetryWait = 5 * time.Second
	}
	if m.Gate == nil {
		m.Gate = &Gate{}
	}
	r := &run{m: m, started: time.Now(), meter: newMeter(m.Gate, time.Now())}
	r.budget.Store(checkBudget)
	return r
}

// open checks the guards that need no scan and opens all that the run needs. A
// destination that cannot be used is out; the others go on.
func (r *run) open(ctx context.Context) (err error) {
	if len(r.m.Dests) == 0 {
		return fmt.Errorf("%w: no target given", ErrUsage)
	}
	if len(r.m.Dests) > maxOrders {
		return fmt.Errorf("%w: %d targets at once; %d are the most", ErrUsage, len(r.m.Dests), maxOrders)
	}
	for _, dst := range r.m.Dests {
		d := &dest{Dest: dst}
		d.report = Report{Dest: dst, RunID: r.m.RunID, Started: r.started}
		r.all = append(r.all, d)
	}
	if r.rules, err = compileRules(&r.m); err != nil {
		return err
	}
	if r.src, err = openSource(r.m.Source); err != nil {
		return err
	}
	r.sources = newFolders(r.src.root, openFolders(len(r.m.Dests)))
	r.openTargets()
	if len(r.dests) == 0 {
		return nil
	}
	if r.m.Mode == ModeChanges {
		if err := r.openSeen(); err != nil {
			return err
		}
	}
	r.meter.ready.Store(&r.dests)
	r.govern()
	r.tasks, r.late, r.links = index.NewSpill(r.m.Scratch), index.NewSpill(r.m.Scratch), index.NewSorter(r.m.Scratch)
	r.scanner = newScanner(&r.m, r.src, r.sources, r.dests, r.targets, r.rules, r, r.meter)
	return ctx.Err()
}

// compileRules makes the exclude rules of a run.
func compileRules(m *Mirror) (*exclude.Rules, error) {
	var patterns []string
	if !m.NoDefaults {
		patterns = append(patterns, exclude.Defaults...)
	}
	rules, err := exclude.Compile(append(patterns, m.Excludes...))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return rules, nil
}

func newScanner(m *Mirror, src *source, sources *folders, dests []*dest, targets []*target, rules *exclude.Rules, to sink, mt *meter) *scanner {
	s := &scanner{src: src, folders: sources, dests: dests, targets: targets, rules: rules, m: m, sink: to, meter: mt}
	for _, d := range dests {
		s.compare = append(s.compare, &comparer{
			checksum: m.Checksum, sourceStable: src.vol.StableIDs, targetStable: d.vol.StableIDs, targetGrain: max(1, d.caps.Grain),
		})
	}
	return s
}

// openTargets opens the target of each destination, once each.
func (r *run) openTargets() {
	byDir := map[string]*target{}
	for i, d := range r.all {
		for _, earlier := range r.all[:i] {
			if earlier.Dest == d.Dest {
				d.fail(fmt.Errorf("%w: %s is given twice", ErrUsage, d.Target))
			}
		}
		if d.err() != nil {
			continue
		}
		if d.Hour != OneShot && (d.Hour < 0 || d.Hour > 23) {
			d.fail(fmt.Errorf("%w: hour %d; hours are 00 to 23", ErrUsage, d.Hour))
			continue
		}
		t, seen := byDir[d.Target]
		if !seen {
			var err error
			if t, err = r.openTarget(d.Target); err != nil {
				d.fail(err)
				continue
			}
			byDir[d.Target] = t
			r.targets = append(r.targets, t)
		}
		d.target = t
		if err := r.openDest(d); err != nil {
			d.fail(err)
			continue
		}
		r.dests = append(r.dests, d)
	}
}

// openTarget checks a target's guards, locks it, signs it and makes it ready.
func (r *run) openTarget(dir string) (*target, error) {
	if r.m.MakeDest {
		if err := makeTarget(r.src, dir); err != nil {
			return nil, err
		}
	}
	t, err := openTarget(dir)
	if err != nil {
		return nil, err
	}
	if err := r.enter(t); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (r *run) enter(t *target) error {
	if err := admit(&r.m, r.src, t); err != nil {
		return err
	}
	if err := t.take(); err != nil {
		return err
	}
	if err := t.sign(&r.m, r.src.path, r.src.vol.ID); err != nil {
		return err
	}
	if err := t.prepare(); err != nil {
		return err
	}
	return t.openBrake(&r.m)
}

// admit holds the guards that need no scan. It changes nothing.
func admit(m *Mirror, src *source, t *target) error {
	if err := errors.Join(apart(src.path, t.dir), alone(t.dir)); err != nil {
		return err
	}
	if err := t.claim(m, src.path); err != nil {
		return err
	}
	if t.marked && !m.Yes && t.mark.Source == src.path && changed(t.mark.SourceVolume, src.vol.ID) {
		return fmt.Errorf("%w: at the source %s is another drive (%s) than the one that was copied before (%s); connect the right one, or approve with --yes", ErrVolume, src.path, src.vol.ID, t.mark.SourceVolume)
	}
	return nil
}

// makeTarget makes the last component of a target that is missing.
func makeTarget(src *source, dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	if err := mayMake(src, dir); err != nil {
		return err
	}
	if err := tree.MkdirRoot(dir); err != nil {
		return fmt.Errorf("%w: %s cannot be made: %w", ErrNoTarget, dir, err)
	}
	return nil
}

// mayMake checks that a missing target could be made: its parent exists and does
// not lie inside the source.
func mayMake(src *source, dir string) error {
	above := filepath.Dir(filepath.Clean(dir))
	if _, err := os.Stat(above); err != nil {
		return fmt.Errorf("%w: %s; its parent folder is missing too: is the drive connected?", ErrNoTarget, dir)
	}
	return outside(src.path, above, dir)
}

// openDest opens one copy and checks that it can fit.
func (r *run) openDest(d *dest) error {
	if err := d.load(r.m.Scratch, openFolders(len(r.m.Dests))); err != nil {
		return err
	}
	if d.vol.Durable != "" {
		d.note("durability not provable: %s", d.vol.Durable)
	}
	if newest, ok := d.newestSealed(); ok && d.before.Content == Empty && r.m.Mode == ModeMirror && newest.Files.Bytes > d.vol.Free {
		return fmt.Errorf("%w: hour %s needs about %d bytes, as hour %s has, and %d are free; free some space or choose a larger drive", ErrNoSpace, d.slot, newest.Files.Bytes, slot(newest.Hour), d.vol.Free)
	}
	d.sweepFound(r.started)
	return nil
}

// Check tells, without changing anything, whether a run could start: the guards
// that need no scan (source, target, overlap, mark, volumes). nil: it could. The
// error wraps the same sentinels as Run's. A target that a run would make (see
// MakeDest) is no error.
func Check(m Mirror) error {
	src, err := openSource(m.Source)
	if err != nil {
		return err
	}
	defer src.close()
	for _, dst := range m.Dests {
		if err := checkTarget(&m, src, dst.Target); err != nil {
			return err
		}
	}
	return nil
}

func checkTarget(m *Mirror, src *source, dir string) error {
	t, err := openTarget(dir)
	if errors.Is(err, ErrNoTarget) && m.MakeDest {
		return mayMake(src, dir)
	}
	if err != nil {
		return err
	}
	defer t.close()
	return admit(m, src, t)
}

func (r *run) close() {
	r.gov.Close()
	for _, d := range r.all {
		d.close()
	}
	for _, t := range r.targets {
		if t.lock != nil {
			t.sweep()
		}
		t.close()
	}
	if r.sources != nil {
		r.sources.close()
	} else if r.src != nil {
		r.src.close()
	}
	if r.tasks != nil {
		r.tasks.Close()
		r.late.Close()
		r.links.Close()
	}
}
