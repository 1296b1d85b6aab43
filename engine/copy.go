package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// chunkSize is the step of all reading and writing. Between two steps the gate
// is asked, so a pause takes effect within the time of one; 1 to 8 MiB were
// alike in speed.
const chunkSize = 1 << 20

// chunksAhead is how many chunks are read before they are written: enough to
// keep both disks busy, 8 MiB a file.
const chunksAhead = 8

var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// readings is how often a file that changes while it is read is tried.
const readings = 3

// copy reads a source file once and writes it to the staging folders of all
// destinations that need it, with its metadata.
func (r *run) copy(ctx context.Context, t *task, f *os.File, info tree.Info) (s *staged, err error) {
	for try := 1; ; try++ {
		if s, err = r.copyOnce(ctx, t, f, info); err != nil {
			return s, err
		}
		after, err := tree.FileInfo(f)
		if err != nil {
			return s, readErr(err)
		}
		before := info
		info = after
		after.Size = s.info.Size // the bytes that were read: the size in a stat may lie
		if r.steady(before, info) {
			s.info = after
			return s, nil
		}
		if try == readings {
			return s, r.unsteady(s, after)
		}
		s.discard()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, readErr(err)
		}
	}
}

// steady tells that a file was not changed between two stats.
func (r *run) steady(a, b tree.Info) bool {
	return a.Size == b.Size && a.MTime == b.MTime && (a.CTime == b.CTime || !r.src.vol.StableIDs)
}

// unsteady settles a file that changed at every reading: an older copy stays;
// where there is none, the last reading is better than nothing.
func (r *run) unsteady(s *staged, last tree.Info) error {
	err := fileErr(CauseChanged, "it changed each of the %d times it was read; close the program that writes it, or let the next run try", readings)
	kept := s.files[:0]
	for i := range s.files {
		file := s.files[i]
		if file.o.now.Kind != tree.None {
			file.discard()
			r.failedAt(s.t.only(file.o.dest), err)
			continue
		}
		r.trouble(file.d, s.t.path, fmt.Errorf("%w; the last reading is kept and marked unstable", err))
		kept = append(kept, file)
	}
	s.files, s.info, s.unstable = kept, last, true
	return nil
}

// copyOnce stages one reading.
func (r *run) copyOnce(ctx context.Context, t *task, f *os.File, info tree.Info) (s *staged, err error) {
	s = &staged{t: t, info: info, read: time.Now()}
	for i := range t.orders {
		d := r.dests[t.orders[i].dest]
		if err := d.need(info.Size); err != nil {
			d.fail(err)
			continue
		}
		file := stagedFile{d: d, o: &t.orders[i], name: r.tempName()}
		if err = r.m.step("create", t.path); err == nil {
			file.f, err = d.stage.Create(file.name)
		}
		if err != nil {
			return s, writeErr(err)
		}
		s.files = append(s.files, file)
	}
	if len(s.files) == 0 {
		return s, nil
	}
	n, err := r.pump(ctx, s, f, info)
	if err != nil {
		return s, err
	}
	if n != info.Size { // cut or grown meanwhile, or a size that lies: the stat after tells
		s.info.Size = n
	}
	for i := range s.files {
		file := &s.files[i]
		if err := r.m.step("meta", t.path); err != nil {
			return s, writeErr(err)
		}
		lost, err := tree.SetFile(file.f, f, info)
		if err != nil {
			return s, writeErr(err)
		}
		file.d.lose(lost)
	}
	return s, nil
}

// pump moves the bytes: one goroutine reads ahead, this one hashes and writes.
// A file of one chunk needs no second goroutine.
func (r *run) pump(ctx context.Context, s *staged, f *os.File, info tree.Info) (n int64, err error) {
	w := &fanout{run: r, s: s, sparse: info.Allocated < info.Size, hash: xxh3.New()}
	if info.Size < chunkSize {
		err = r.readAll(ctx, f, w.write)
	} else {
		tree.Advise(f)
		err = r.readAhead(ctx, f, w.write)
		tree.Forget(f)
	}
	r.read.Store(time.Now().UnixNano())
	if err == nil {
		err = w.end()
	}
	s.hash = w.hash.Sum128().Bytes()
	return w.n, err
}

// readAll hands on a file's chunks as they are read.
func (r *run) readAll(ctx context.Context, f *os.File, to func([]byte) error) error {
	buf := chunks.Get().(*[chunkSize]byte)
	defer chunks.Put(buf)
	for {
		n, err := r.readChunk(ctx, f, buf)
		if n > 0 {
			if e := to(buf[:n]); e != nil {
				return e
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readChunk fills a chunk; io.EOF with the last bytes.
func (r *run) readChunk(ctx context.Context, f *os.File, buf *[chunkSize]byte) (int, error) {
	if err := r.m.Gate.pass(ctx, 0); err != nil {
		return 0, err
	}
	if err := r.m.step("read", f.Name()); err != nil {
		return 0, readErr(err)
	}
	n, err := io.ReadFull(f, buf[:])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, readErr(err)
	}
	if e := r.m.Gate.pass(ctx, n); e != nil {
		return 0, e
	}
	return n, err
}

// piece is a chunk on its way from the reader to the writer.
type piece struct {
	buf *[chunkSize]byte
	n   int
	err error
}

// readAhead is readAll with the reading in a goroutine of its own.
func (r *run) readAhead(ctx context.Context, f *os.File, to func([]byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	pieces := make(chan piece, chunksAhead)
	go func() {
		defer close(pieces)
		for {
			buf := chunks.Get().(*[chunkSize]byte)
			n, err := r.readChunk(ctx, f, buf)
			pieces <- piece{buf, n, err}
			if err != nil {
				return
			}
		}
	}()
	var result error
	for p := range pieces {
		if result == nil && p.n > 0 {
			result = to(p.buf[:p.n])
		}
		if result == nil && p.err != nil && !errors.Is(p.err, io.EOF) {
			result = p.err
		}
		if result != nil {
			cancel() // the reader ends; what it has read is drained
		}
		chunks.Put(p.buf)
	}
	cancel()
	return result
}

// fanout writes one stream to all staged files of a task.
type fanout struct {
	run    *run
	s      *staged
	hash   *xxh3.Hasher
	sparse bool
	n      int64
	asked  int64 // up to here write-out was asked for
}

// holeSize is the unit in which zeros of a sparse file stay holes: the usual
// cluster of large volumes.
const holeSize = 64 << 10

// writeOut is after how many bytes a file's write-out is started, so that the
// batch's sync finds little to do.
const writeOut = 8 << 20

func (w *fanout) write(p []byte) error {
	w.hash.Write(p)
	for i := range w.s.files {
		file := &w.s.files[i]
		if !file.d.alive() {
			continue
		}
		err := w.run.m.step("write", w.s.t.path)
		if err == nil {
			err = w.put(file.f, p)
		}
		if err != nil {
			if err = writeErr(err); !fatal(err) {
				return err
			}
			file.d.fail(err)
		}
	}
	w.n += int64(len(p))
	w.run.meter.copied.Add(int64(len(p)))
	if w.n-w.asked >= writeOut {
		for i := range w.s.files {
			tree.StartWrite(w.s.files[i].f, w.asked, w.n-w.asked)
		}
		w.asked = w.n
	}
	return nil
}

// put writes a chunk at its place; of a sparse file, zeros become holes. What
// was read and hashed are always the bytes, never what the system says of holes.
func (w *fanout) put(f *os.File, p []byte) error {
	if !w.sparse {
		_, err := f.WriteAt(p, w.n)
		return err
	}
	for at := 0; at < len(p); at += holeSize {
		part := p[at:min(at+holeSize, len(p))]
		if zero(part) {
			continue
		}
		if _, err := f.WriteAt(part, w.n+int64(at)); err != nil {
			return err
		}
	}
	return nil
}

// end gives a sparse file its length.
func (w *fanout) end() error {
	if !w.sparse {
		return nil
	}
	for i := range w.s.files {
		if err := w.s.files[i].f.Truncate(w.n); err != nil {
			return writeErr(err)
		}
	}
	return nil
}

func zero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// entryOf makes the idx entry of a staged file, without the target's stamp.
func (s *staged) entryOf() index.Entry {
	e := index.Entry{Kind: s.info.Kind, Size: s.info.Size, Hash: s.hash, Source: stamp(s.info)}
	if s.info.Kind == tree.File && racy(s.info.MTime, s.read) {
		e.Flags |= index.Racy
	}
	if s.unstable {
		e.Flags |= index.Unstable
	}
	return e
}
