package engine

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/hourhand/hourhand/engine/manifest"
	"github.com/hourhand/hourhand/engine/tree"
)

// A batch ends at whichever comes first: its sync cannot be interrupted, and a
// pause must act within 200 ms.
const (
	batchBytes = 64 << 20
	batchTime  = 500 * time.Millisecond
	batchFiles = 1000 // open descriptors: a quarter of the 4,096 that systems allow by default
)

// batchBytes is less while others wait for the drives: a sync lets nobody in.
func (r *run) batchBytes() int64 {
	if share := r.gov.Pace().Share; share > 0 && share < 1 {
		return batchBytes / 8
	}
	return batchBytes
}

// batcher gathers staged files and publishes them together, one batch at a time,
// while the next one fills.
type batcher struct {
	in   chan *staged
	done chan struct{}
	run  *run
}

func newBatcher(ctx context.Context, r *run) *batcher {
	b := &batcher{in: make(chan *staged), done: make(chan struct{}), run: r}
	full := make(chan []*staged)
	go b.gather(full)
	go func() {
		defer close(b.done)
		for batch := range full {
			r.publish(ctx, batch)
		}
	}()
	return b
}

func (b *batcher) gather(full chan<- []*staged) {
	defer close(full)
	var batch []*staged
	var bytes int64
	var files int
	var timeout <-chan time.Time
	flush := func() {
		full <- batch
		batch, bytes, files, timeout = nil, 0, 0, nil
	}
	for {
		select {
		case s, ok := <-b.in:
			if !ok {
				if len(batch) > 0 {
					flush()
				}
				return
			}
			if len(batch) == 0 {
				timeout = time.After(batchTime)
			}
			batch = append(batch, s)
			bytes += s.info.Size
			files += len(s.files)
			if bytes >= b.run.batchBytes() || files >= batchFiles {
				flush()
			}
		case <-timeout:
			flush()
		}
	}
}

// publish proves a batch and gives its files their names: intents, one sync,
// read back, rename. The renames become durable with the next sync.
func (r *run) publish(ctx context.Context, batch []*staged) {
	var wg sync.WaitGroup
	for _, t := range r.targets {
		wg.Go(func() { r.publishAt(ctx, t, batch) })
	}
	wg.Wait()
	r.parallel(len(batch), func(i int) {
		batch[i].discard() // closes what was published, removes what was not
	})
}

// part is what one batch holds for one destination.
type part struct {
	s    *staged
	file *stagedFile
}

// publishAt publishes a batch's part on one target.
func (r *run) publishAt(ctx context.Context, t *target, batch []*staged) {
	parts := map[*dest][]part{}
	for _, s := range batch {
		for i := range s.files {
			if d := s.files[i].d; d.target == t && d.alive() {
				parts[d] = append(parts[d], part{s, &s.files[i]})
			}
		}
	}
	if len(parts) == 0 || enter(ctx, r.m.Gate, r.gov) != nil {
		return
	}
	began := time.Now()
	err := r.m.step("sync", t.dir)
	if err == nil {
		err = t.settle(ctx, parts)
	}
	r.gov.End(0, time.Since(began))
	if err != nil {
		err = writeError(err)
		for d := range parts {
			d.fail(lostError(err))
		}
		return
	}
	for d, ps := range parts {
		r.publishDest(ctx, d, ps)
	}
}

// barrier makes all that was written to the copy so far durable.
func (r *run) barrier(ctx context.Context, d *dest) error {
	if err := r.m.step("barrier", d.slot); errors.Is(err, errLeftOut) {
		return nil
	}
	err := d.target.settle(ctx, map[*dest][]part{d: nil})
	if err != nil && ctx.Err() == nil {
		return lostError(writeError(err))
	}
	return err
}

// errLeftOut makes a test's hook leave a sync out, to show that power cuts find it.
var errLeftOut = errors.New("left out")

// settle writes the intents of a batch and makes them and its files durable.
func (t *target) settle(ctx context.Context, parts map[*dest][]part) error {
	var files []*os.File
	var dirs dirtyFolders
	defer dirs.close()
	for d, ps := range parts {
		if err := d.next.add(intentsOf(ps)); err != nil {
			return err
		}
		files = append(files, d.next.f)
		for _, p := range ps {
			if p.file.f != nil {
				files = append(files, p.file.f)
			}
		}
		if err := dirs.take(d); err != nil {
			return err
		}
	}
	if err := t.syncer.Sync(ctx, files, dirs.open); err != nil {
		return err
	}
	for d := range parts {
		if err := d.next.proven(); err != nil {
			return err
		}
	}
	return nil
}

// intentsOf lists what a batch is about to put in place.
func intentsOf(ps []part) []manifest.Line {
	var lines []manifest.Line
	for _, p := range ps {
		if p.s.info.Kind != tree.File {
			continue
		}
		if p.file.name != "" {
			lines = append(lines, manifest.Line{Path: p.s.t.path, Hash: p.s.hash})
		}
		for _, m := range p.s.t.members {
			if m.order(p.file.o.dest) != nil {
				lines = append(lines, manifest.Line{Path: m.path, Hash: p.s.hash})
			}
		}
	}
	return lines
}

func (m *member) order(dest int) *order {
	t := task{orders: m.orders}
	return t.order(dest)
}

// dirtyFolders are the folders whose entries changed since the last sync, on
// file systems that are synced folder by folder.
type dirtyFolders struct {
	open  []*tree.Dir
	dones []func()
}

func (x *dirtyFolders) take(d *dest) error {
	d.mu.Lock()
	paths := d.dirty
	d.dirty = map[string]bool{}
	d.mu.Unlock()
	for p := range paths {
		dir, done, err := d.folders.get(p)
		if err != nil {
			continue // removed since; its parent is on the list
		}
		x.open = append(x.open, dir)
		x.dones = append(x.dones, done)
	}
	return nil
}

func (x *dirtyFolders) close() {
	for _, done := range x.dones {
		done()
	}
}

// only is a task for one of its destinations alone.
func (t *task) only(dest int) *task {
	one := &task{path: t.path, src: t.src, tries: t.tries, anchored: t.anchored}
	if o := t.order(dest); o != nil {
		one.orders = []order{*o}
	}
	for _, m := range t.members {
		if o := m.order(dest); o != nil {
			one.members = append(one.members, member{m.path, []order{*o}})
		}
	}
	return one
}

// parallel calls step for 0..n-1 by several goroutines.
func (r *run) parallel(n int, step func(int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(n, r.hands()) {
		wg.Go(func() {
			for i := range next {
				step(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
