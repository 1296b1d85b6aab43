package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// ahead is how many pieces of a file are read before they are written, and how
// many are written at once past the cache: 8 keep an SSD busy on both sides,
// 16 MiB a file.
const ahead = 8

// directFrom is the size from which a file goes past the cache.
const directFrom = 1 << 20

// isLarge tells that a file's bytes should go past the cache on both sides, where
// that can be had. On a drive that seeks the cache is of use: it brings reads and
// writes together to longer ones.
func (r *run) isLarge(info tree.Info) bool {
	return info.Size >= directFrom && !sparse(info) && !r.spinning
}

func sparse(info tree.Info) bool { return info.Allocated < info.Size }

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
		file := stagedFile{d: r.dests[t.orders[i].dest], o: &t.orders[i], name: r.tempName()}
		if err := file.d.try(func() error { return r.create(t, &file, info.Size) }); err != nil {
			return s, err
		}
		if file.f != nil {
			s.files = append(s.files, file)
		}
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
		if err := file.d.try(func() error { return r.dress(t, file, f, info) }); err != nil {
			return s, err
		}
	}
	return s, nil
}

// create makes a temp file, if what is going into it has room.
func (r *run) create(t *task, file *stagedFile, size int64) (err error) {
	if err = file.d.need(size); err == nil {
		err = r.m.step("create", t.path)
	}
	if err == nil {
		file.f, err = file.d.stage.of(file.name).Create(file.name)
	}
	return err
}

// dress gives a staged file the metadata of its source.
func (r *run) dress(t *task, file *stagedFile, src *os.File, info tree.Info) error {
	if err := r.m.step("meta", t.path); err != nil {
		return err
	}
	lost, err := tree.SetFile(file.f, src, info)
	if err == nil {
		file.d.lose(lost)
	}
	return err
}

// pump moves the bytes: what is read ahead is hashed and written here.
func (r *run) pump(ctx context.Context, s *staged, f *os.File, info tree.Info) (n int64, err error) {
	w := r.newFanout(ctx, s, info)
	if err := w.begin(); err != nil {
		return 0, err
	}
	if b, read, ok := s.t.early.bytes(); ok {
		s.read = read
		err = w.write(tree.Piece{Bytes: b})
	} else {
		err = r.readInto(ctx, f, info, w)
	}
	r.read.Store(time.Now().UnixNano())
	err = cmp.Or(err, w.end())
	s.hash = w.hash.Sum128().Bytes()
	return w.n, err
}

// readInto reads a file by itself.
func (r *run) readInto(ctx context.Context, f *os.File, info tree.Info, w *fanout) error {
	direct := r.isLarge(info) && tree.GoDirect(f, r.src.vol, info.Size)
	if !direct && info.Size >= tree.PieceSize {
		tree.Advise(f)
		defer tree.Forget(f)
	}
	return r.stream(ctx, f, w.s.t.path, info.Size, w.write)
}

// stream hands on a file's pieces in order as they are read. to frees them.
func (r *run) stream(ctx context.Context, f *os.File, path string, size int64, to func(tree.Piece) error) error {
	ctx, cancel := context.WithCancel(ctx)
	in := tree.NewStream(f, size, ahead, r.reading(ctx, path))
	defer in.Close()
	defer cancel() // first, so that what waits for the gate does not hold Close up
	for {
		p, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && size > 0 && p.Off > 2*size+outgrown {
			p.Free()
			return fileErr(CauseChanged, "it grows as fast as it is read; close the program that writes it, or let the next run try")
		}
		if err == nil {
			err = to(p)
		}
		if err != nil {
			return err
		}
	}
}

// limited is the step of reading a source: it is what the limit counts.
func (r *run) limited(ctx context.Context) tree.Step {
	step := r.around(ctx)
	return func(n int, do func() error) error {
		if err := r.m.Gate.pass(ctx, n); err != nil {
			return err
		}
		return step(n, do)
	}
}

// reading is limited for one file.
func (r *run) reading(ctx context.Context, path string) tree.Step {
	step := r.limited(ctx)
	return func(n int, do func() error) error {
		return step(n, func() error {
			err := r.m.step("read", path)
			if err == nil {
				err = do()
			}
			if err != nil {
				return readErr(err)
			}
			return nil
		})
	}
}

// outgrown is how much longer than twice its size a file may turn out. Somebody
// appends to it without end, and reading it would have none either.
const outgrown = 64 << 20

// hashAll hashes a file's bytes.
func (r *run) hashAll(ctx context.Context, f *os.File, path string, size int64) (sum [16]byte, err error) {
	h := xxh3.New()
	err = r.stream(ctx, f, path, size, func(p tree.Piece) error {
		defer p.Free()
		_, err := h.Write(p.Bytes)
		return err
	})
	return h.Sum128().Bytes(), err
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
