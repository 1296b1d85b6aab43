package engine

import (
	"context"
	"os"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// early are small source files that were opened and read together, before each is
// copied by itself: of tiny files, waiting for each of them cost more than all
// else.
type early struct {
	group tree.Group
	tasks []*task
}

// earlyFile is one of them. Its stat is of before the reading, as the copy's own
// would be, so that a change meanwhile shows in the stat after it.
type earlyFile struct {
	f     *os.File
	info  tree.Info
	read  time.Time // before the first of its bytes was read
	group *tree.Group
	at    int
}

// worthEarly tells that a file is small and its bytes are wanted for sure.
func (r *run) worthEarly(t *task) bool {
	if t.src.Kind != tree.File || t.src.Size == 0 || t.src.Size >= tree.Small || t.anchored || !r.src.vol.PastCache {
		return false
	}
	for _, o := range t.orders {
		if o.op == opCheck {
			return false
		}
	}
	return true
}

// readEarly opens and reads those files of a few tasks that are not in the cache.
// Whatever goes wrong with one shows when it is opened and read by itself.
func (r *run) readEarly(ctx context.Context, ts []*task) *early {
	e := &early{}
	if len(ts) < 2 {
		return e
	}
	for _, t := range ts {
		if r.worthEarly(t) && r.m.Gate.open(ctx) == nil {
			e.open(r, t)
		}
	}
	if len(e.tasks) > 0 && e.read(ctx, r) != nil {
		e.close()
	}
	return e
}

func (e *early) read(ctx context.Context, r *run) error {
	if err := r.m.step("read together", ""); err != nil {
		return err
	}
	return e.group.Read(r.limited(ctx))
}

func (e *early) open(r *run, t *task) {
	f, info, err := openAt(r.sources, t.path)
	if err != nil {
		return
	}
	x := &earlyFile{f: f, info: info, read: time.Now(), group: &e.group, at: e.group.Len()}
	if r.m.step("read", t.path) != nil || !tree.GoDirect(f, r.src.vol, info.Size) || !e.group.Add(f, info.Size) {
		f.Close()
		return
	}
	e.tasks = append(e.tasks, t)
	t.early = x
}

// close ends the use of all the files: a further try opens them anew.
func (e *early) close() {
	for _, t := range e.tasks {
		t.early.f.Close()
		t.early = nil
	}
	e.tasks = nil
	e.group.Free()
}

// bytes is all of the file and when it was read, once: a second reading must be a
// new one. ok false: it has to be read by itself.
func (x *earlyFile) bytes() (b []byte, read time.Time, ok bool) {
	if x == nil || x.group == nil {
		return nil, time.Time{}, false
	}
	b, err := x.group.Bytes(x.at)
	x.group = nil
	return b, x.read, err == nil
}
