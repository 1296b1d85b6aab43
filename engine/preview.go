package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// Preview tells what Run would do, without changing anything. each, if not nil,
// receives every step with its reason, unsorted, one at a time. Only the first
// destination is looked at: run it once for each. The plan's Reason tells which
// guard would hold the run. Errors are Run's.
func Preview(ctx context.Context, m Mirror, each func(Item)) (Plan, error) {
	if len(m.Dests) == 0 {
		return Plan{}, fmt.Errorf("%w: no target given", ErrUsage)
	}
	r := newRun(m)
	p := &preview{run: r, each: each}
	defer r.close()
	if err := p.open(); err != nil {
		return p.plan, err
	}
	r.scanner = newScanner(&r.m, r.src, r.sources, r.dests, r.targets, r.rules, p, r.meter)
	if err := r.scanner.scan(ctx, r.scanner.root()); err != nil {
		return p.plan, err
	}
	b := p.d.brake
	b.judge(&r.m, r.meter.files.Load())
	p.plan.Reason, p.plan.Against, p.plan.Of = b.reason, b.against, b.of
	p.plan.Problems = p.d.report.ProblemCount
	p.leftOut()
	return p.plan, nil
}

// preview is a sink that only tells.
type preview struct {
	run  *run
	d    *dest
	each func(Item)

	mu   sync.Mutex
	plan Plan
}

// open does what a run's open does, without a lock, a mark or a trial of the
// volume: those would write.
func (p *preview) open() (err error) {
	r := p.run
	dst := r.m.Dests[0]
	p.d = &dest{Dest: dst}
	p.d.report = Report{Dest: dst, RunID: r.m.RunID, Started: time.Now()}
	r.all, r.dests = []*dest{p.d}, []*dest{p.d}
	if r.rules, err = compileRules(&r.m); err != nil {
		return err
	}
	if r.src, err = openSource(r.m.Source); err != nil {
		return err
	}
	r.sources = newFolders(r.src.root, openFolders(1))
	if p.d.target, err = p.target(dst.Target); err != nil {
		return err
	}
	r.targets = []*target{p.d.target}
	if err := p.d.load(r.m.Scratch, openFolders(1)); err != nil {
		return err
	}
	if r.m.Mode == ModeChanges {
		return r.openSeen()
	}
	return nil
}

// target opens the target; one that a run would make counts as empty.
func (p *preview) target(dir string) (*target, error) {
	m := &p.run.m
	t, err := openTarget(dir)
	if errors.Is(err, ErrNoTarget) && m.MakeDest {
		if err := mayMake(p.run.src, dir); err != nil {
			return nil, err
		}
		if t, err = openTarget(filepath.Dir(filepath.Clean(dir))); err == nil {
			t.own = nil
		}
		p.d.fresh = true
	} else if err == nil {
		err = admit(m, p.run.src, t)
	}
	if err != nil {
		return nil, err
	}
	t.caps = assumed(t.vol)
	return t, t.openBrake(m)
}

// assumed is what a volume is taken to be able to where nobody may try.
func assumed(v tree.Volume) tree.Caps {
	c := tree.Caps{Links: true, HardLinks: true, Owner: true, Modes: true, Xattrs: true, Grain: 1}
	switch v.FileSystem {
	case "exfat", "vfat", "fuse.exfat", "fuse.exfat-fuse":
		c = tree.Caps{FoldsCase: true, Grain: int64(2 * time.Second)}
	}
	return c
}

func (p *preview) tell(op, path string, bytes int64, c *Count, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c != nil {
		c.Files++
		c.Bytes += bytes
	}
	it := Item{Op: op, Path: path, Bytes: bytes, Reason: reason}
	if len(p.plan.Sample) < MaxProblems && (op == "replace" || op == "remove") {
		p.plan.Sample = append(p.plan.Sample, it)
	}
	if p.each != nil {
		p.each(it)
	}
}

func (p *preview) entry(t *task) error {
	o := t.orders[0]
	old := &o.old
	if old.Kind == tree.None {
		old = nil
	}
	why := p.run.scanner.compare[0].reason(verdict{op: o.op, owner: o.owner}, t.src, o.now, old)
	switch o.op {
	case opAdd:
		p.tell("add", t.path, t.src.Size, &p.plan.Add, why)
	case opReplace:
		p.tell("replace", t.path, t.src.Size, &p.plan.Replace, why)
	default:
		p.tell("mend", t.path, t.src.Size, nil, why)
	}
	return nil
}

func (p *preview) linked(t *task) error {
	if len(t.orders) == 0 || t.orders[0].op == 0 {
		return nil
	}
	return p.entry(t)
}

func (p *preview) folder(d *dest, path string, now tree.Info) error {
	switch {
	case path == "":
	case now.Kind == tree.None:
		p.tell("add", path+"/", 0, nil, "new folder")
	default:
		p.tell("mend", path+"/", 0, nil, "the folder's times or rights differ")
	}
	return nil
}

func (p *preview) extra(d *dest, path string, now tree.Info, o owner) error {
	why := "not in the source"
	if o == strange && now.Kind != tree.Folder {
		why += ", and not Hourhand's: goes to " + own + "/" + found
	}
	if now.Kind == tree.Folder {
		p.tell("remove", path+"/", 0, nil, why)
		return nil
	}
	p.tell("remove", path, now.Size, &p.plan.Remove, why)
	return nil
}

func (p *preview) swap(d *dest, path string) error {
	p.tell("add", path, 0, nil, "takes the place of what is of another kind")
	return nil
}

func (p *preview) recase(d *dest, dir, have, want string) error {
	p.tell("mend", join(dir, want), 0, nil, fmt.Sprintf("is called %q at the target", have))
	return nil
}

func (p *preview) adopted(*dest, string, tree.Info, tree.Info, *index.Entry) error { return nil }
func (p *preview) gone(*dest, string, string) error                                { return nil }

func (p *preview) trouble(d *dest, path string, err error) {
	d.trouble(path, err)
	p.tell("problem", path, 0, nil, err.Error())
}

// leftOut tells how much rules and kinds of file keep out.
func (p *preview) leftOut() {
	l := p.d.report.LeftOut
	if n := l.Excluded + l.Special + l.Mount; n > 0 {
		p.tell("left-out", "", 0, nil, fmt.Sprintf("%d excluded, %d special files, %d mount points", l.Excluded, l.Special, l.Mount))
	}
}
