package engine

import (
	"bytes"
	"context"
	"os"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/tree"
)

// fanout writes one stream to all staged files of a task: in order through the
// cache, or past it several pieces at once.
type fanout struct {
	run    *run
	s      *staged
	info   tree.Info // of the source, as a stat told
	step   tree.Step
	hash   *xxh3.Hasher
	n      int64
	asked  int64  // up to here write-out was asked for
	direct bool   // past the cache
	tail   []byte // behind the last whole block: written at the end, through the cache

	flying sync.WaitGroup
	slots  chan struct{} // one for each piece that is being written
	mu     sync.Mutex
	err    error // of a piece: the first
}

func (r *run) newFanout(ctx context.Context, s *staged, info tree.Info) *fanout {
	return &fanout{run: r, s: s, info: info, step: r.around(ctx), hash: xxh3.New(), slots: make(chan struct{}, ahead)}
}

// begin decides whether the bytes go past the cache: if all files can.
func (w *fanout) begin() error {
	if !w.run.isLarge(w.info) {
		return nil
	}
	for i := range w.s.files {
		file := &w.s.files[i]
		if !tree.GoDirect(file.f, file.d.vol, 0) {
			return w.buffered()
		}
	}
	w.direct = true
	for i := range w.s.files {
		if err := w.on(&w.s.files[i], w.allocate); err != nil {
			return err
		}
	}
	return nil
}

func (w *fanout) allocate(f *os.File) error {
	return w.step(0, func() error { return tree.Allocate(f, w.info.Size) })
}

func (w *fanout) buffered() error {
	for i := range w.s.files {
		if err := w.on(&w.s.files[i], tree.GoBuffered); err != nil {
			return err
		}
	}
	return nil
}

// on does something with one staged file, unless its destination is out. What is
// wrong with its whole target ends only that destination.
func (w *fanout) on(file *stagedFile, do func(f *os.File) error) error {
	return file.d.try(func() error { return do(file.f) })
}

// write takes a piece over.
func (w *fanout) write(p tree.Piece) error {
	w.hash.Write(p.Bytes)
	w.n += int64(len(p.Bytes))
	if !w.direct {
		defer p.Free()
		err := w.put(p)
		w.startWrite()
		return err
	}
	whole := len(p.Bytes) / tree.Block * tree.Block
	w.tail = bytes.Clone(p.Bytes[whole:])
	p.Bytes = p.Bytes[:whole]
	w.slots <- struct{}{}
	if err := w.failure(); err != nil {
		<-w.slots
		p.Free()
		return err
	}
	w.flying.Go(func() {
		defer func() { <-w.slots }()
		defer p.Free()
		w.fail(w.put(p))
	})
	return nil
}

func (w *fanout) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *fanout) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// put writes a piece at its place in all files.
func (w *fanout) put(p tree.Piece) error {
	for i := range w.s.files {
		err := w.on(&w.s.files[i], func(f *os.File) error {
			return w.step(len(p.Bytes), func() error {
				if err := w.run.m.step("write", w.s.t.path); err != nil {
					return err
				}
				return w.putAt(f, p.Bytes, p.Off)
			})
		})
		if err != nil {
			return err
		}
	}
	w.run.meter.copied.Add(int64(len(p.Bytes)))
	return nil
}

// putAt writes bytes; of a sparse file, zeros become holes. What was read and
// hashed are always the bytes, never what the system says of holes.
func (w *fanout) putAt(f *os.File, p []byte, off int64) error {
	if !sparse(w.info) {
		_, err := f.WriteAt(p, off)
		return err
	}
	for at := 0; at < len(p); at += holeSize {
		part := p[at:min(at+holeSize, len(p))]
		if zero(part) {
			continue
		}
		if _, err := f.WriteAt(part, off+int64(at)); err != nil {
			return err
		}
	}
	return nil
}

// holeSize is the unit in which zeros of a sparse file stay holes: the usual
// cluster of large volumes.
const holeSize = 64 << 10

func zero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// startWrite asks for write-out now and then, so that the batch's sync finds
// little to do.
func (w *fanout) startWrite() {
	const each = 8 << 20
	if w.n-w.asked < each {
		return
	}
	for i := range w.s.files {
		tree.StartWrite(w.s.files[i].f, w.asked, w.n-w.asked)
	}
	w.asked = w.n
}

// end waits for all pieces and gives the files their tail and their length. It
// must be called, also after an error.
func (w *fanout) end() error {
	w.flying.Wait()
	if err := w.failure(); err != nil || !w.direct && !sparse(w.info) {
		return err
	}
	for i := range w.s.files {
		err := w.on(&w.s.files[i], func(f *os.File) error {
			return w.step(len(w.tail), func() error { return w.finish(f) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *fanout) finish(f *os.File) error {
	if w.direct {
		if err := tree.GoBuffered(f); err != nil {
			return err
		}
		if _, err := f.WriteAt(w.tail, w.n-int64(len(w.tail))); err != nil {
			return err
		}
	}
	if w.direct && w.n == w.info.Size {
		return nil
	}
	return f.Truncate(w.n)
}
