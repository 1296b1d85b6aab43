package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/hourhand/hourhand/engine"
)

// runner is a case that can be run. run returns when the copy is durable.
type runner struct {
	Case
	run func(context.Context, job) error
}

// ours tells that a failure is one of this program, not of a tool.
func (r runner) ours() bool { return r.Group != Tools }

// job is one copy to be made: of the folder from, as to, which is not there.
type job struct {
	from, to string
	note     func(string)
	yielded  func() // called if the run gave way to other programs
	verified *engine.Verified
}

// workerCounts are those that are tried by hand; 0 is the engine's own choice.
var workerCounts = []int{0, 1, 2, 4, 8, 16, 32}

// allCases are the cases in the order of the table, and what there is not, with
// the reason.
func allCases() (cases []runner, leftOut []string) {
	cases = []runner{
		{Case{Group: Plain, Name: "naive copy"}, thenFlush(copyWith(naive))},
		{Case{Group: Plain, Name: "read-ahead copy"}, thenFlush(copyWith(readAhead))},
	}
	for _, t := range tools {
		if !t.system(runtime.GOOS) {
			continue
		}
		if c, err := t.find(); err != nil {
			leftOut = append(leftOut, err.Error())
		} else {
			cases = append(cases, c)
		}
	}
	cases = append(cases,
		ourCase(Full, engine.ProfileGentle, 0), ourCase(Full, engine.ProfileNormal, 0))
	for _, group := range []string{Full, Source} {
		for _, n := range workerCounts {
			cases = append(cases, ourCase(group, engine.ProfileFull, n))
		}
	}
	return cases, leftOut
}

var profileNames = map[engine.Profile]string{
	engine.ProfileGentle: "gentle", engine.ProfileNormal: "normal", engine.ProfileFull: "full",
}

// ourCase is a mirror by the engine. A number of workers is tried with the
// profile full, which yields to nobody; the profiles choose their own.
func ourCase(group string, profile engine.Profile, workers int) runner {
	c := Case{Group: group, Profile: profileNames[profile], Workers: workers}
	switch workers {
	case 0:
		c.Name = "profile " + c.Profile
	case 1:
		c.Name = "1 worker"
	default:
		c.Name = fmt.Sprintf("%d workers", workers)
	}
	proof := engine.VerifyFull
	if group == Source {
		proof = engine.VerifySource
	}
	return runner{c, func(ctx context.Context, j job) error {
		reports, err := engine.Run(ctx, engine.Mirror{
			Source: j.from, Dests: []engine.Dest{{Target: j.to, Hour: engine.OneShot}}, MakeDest: true,
			Verify: proof, Profile: profile, Workers: workers,
		}, func(p engine.Progress) {
			if p.Pace.Yielded != "" {
				j.yielded()
			}
		})
		for _, r := range reports {
			err = errors.Join(err, whole(r))
			for _, n := range r.Notes {
				j.note(n)
			}
			if group == Full && err == nil {
				addVerified(j.verified, r.Verified)
			}
		}
		return err
	}}
}

// whole is an error unless the run did all of it.
func whole(r engine.Report) error {
	if len(r.Problems) > 0 {
		return fmt.Errorf("%s: %s", r.Problems[0].Path, r.Problems[0].Error)
	}
	return nil
}

func addVerified(sum *engine.Verified, v engine.Verified) {
	for _, c := range []struct {
		sum *engine.Count
		add engine.Count
	}{{&sum.Device, v.Device}, {&sum.Cache, v.Cache}, {&sum.Server, v.Server}, {&sum.Source, v.Source}} {
		c.sum.Files += c.add.Files
		c.sum.Bytes += c.add.Bytes
	}
}

// thenFlush makes what a copier wrote durable: with it the clock stops.
func thenFlush(run func(context.Context, job) error) func(context.Context, job) error {
	return func(ctx context.Context, j job) error {
		if err := run(ctx, j); err != nil {
			return err
		}
		return flush(ctx, j.to)
	}
}

// copyWith copies a tree file by file, as a program would that knows no more
// than that files are to be copied.
func copyWith(file func(context.Context, io.Writer, io.Reader) error) func(context.Context, job) error {
	return func(ctx context.Context, j job) error {
		return filepath.WalkDir(j.from, func(path string, e fs.DirEntry, err error) error {
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			rel, err := filepath.Rel(j.from, path)
			if err != nil {
				return err
			}
			to := filepath.Join(j.to, rel)
			if e.IsDir() {
				return os.Mkdir(to, 0o755)
			}
			return copyFile(ctx, path, to, file)
		})
	}
}

func copyFile(ctx context.Context, from, to string, file func(context.Context, io.Writer, io.Reader) error) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(file(ctx, out, in), out.Close())
}

// naive is io.Copy, by reading and writing: what a file has of shorter ways
// (copy_file_range) would on some file systems copy nothing at all.
func naive(ctx context.Context, out io.Writer, in io.Reader) error {
	_, err := io.Copy(struct{ io.Writer }{out}, &untilDone{ctx, in})
	return err
}

// untilDone ends with the context.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

func (u *untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.in.Read(p)
}

const (
	aheadBlock = 1 << 20
	aheadDepth = 8 // blocks read before they can be written: gained 30 % in an earlier engine, and more did not
)

// blocks are used again by the next file: most files are far smaller.
var blocks = sync.Pool{New: func() any { return new([aheadBlock]byte) }}

// piece is what was read into a block.
type piece struct {
	block *[aheadBlock]byte
	n     int
}

// readAhead reads in one goroutine and writes in another.
func readAhead(ctx context.Context, out io.Writer, in io.Reader) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pieces, readErr := make(chan piece, aheadDepth), error(nil)
	go func() { // ends at the end of the file, at an error, or when the writer stops it
		defer close(pieces)
		readErr = readPieces(ctx, in, pieces)
	}()
	var writeErr error
	for p := range pieces {
		if writeErr == nil {
			if _, writeErr = out.Write(p.block[:p.n]); writeErr != nil {
				stop()
			}
		}
		blocks.Put(p.block)
	}
	return cmp.Or(writeErr, readErr) // stopped by the writer's error, the reader has nothing to add
}

func readPieces(ctx context.Context, in io.Reader, pieces chan<- piece) error {
	for {
		block := blocks.Get().(*[aheadBlock]byte)
		n, err := in.Read(block[:])
		if n == 0 {
			blocks.Put(block)
		} else {
			select {
			case pieces <- piece{block, n}:
			case <-ctx.Done():
				return ctx.Err()
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
