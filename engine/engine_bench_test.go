package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// newBench is a world whose runs give way to nobody.
func newBench(b *testing.B) *world {
	w := newWorld(b)
	w.m.Profile = ProfileFull
	return w
}

// tree writes files of size bytes each, 100 to a folder, that compress no better
// than photos do.
func (w *world) tree(files, size int) {
	w.Helper()
	random := rand.NewChaCha8([32]byte{})
	data := make([]byte, size)
	for i := range files {
		random.Read(data)
		w.write(fmt.Sprintf("folder%03d/file%02d", i/100, i%100), string(data))
	}
}

// perFile reports the files that a benchmark got through each second.
func perFile(b *testing.B, files int) {
	b.ReportMetric(float64(files)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
}

// fresh runs work on a new target in each round; making and removing targets is
// not timed.
func (w *world) fresh(b *testing.B, work func()) {
	for b.Loop() {
		b.StopTimer()
		w.must(os.RemoveAll(w.dst))
		w.mkdir(w.dst)
		b.StartTimer()
		work()
	}
}

func BenchmarkScan(b *testing.B) {
	const files = 5000
	w := newBench(b)
	w.tree(files, 1)
	b.ReportAllocs()
	for b.Loop() {
		plan, err := Preview(context.Background(), w.m, nil)
		w.must(err)
		if plan.Add.Files != files {
			b.Fatalf("got %d files, want %d", plan.Add.Files, files)
		}
	}
	perFile(b, files)
}

// BenchmarkPreview compares with a copy from which a hundredth differs.
func BenchmarkPreview(b *testing.B) {
	const files = 5000
	w := newBench(b)
	w.tree(files, 1)
	w.run(Done)
	for i := range files / 100 {
		w.later(fmt.Sprintf("folder%03d/file00", i), "changed")
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		_, err := Preview(context.Background(), w.m, func(Item) { n++ })
		w.must(err)
		if n < files/100 {
			b.Fatalf("got %d items, want %d", n, files/100)
		}
	}
	perFile(b, files)
}

func BenchmarkUnchanged(b *testing.B) {
	const files = 5000
	w := newBench(b)
	w.tree(files, 1)
	w.run(Done)
	for _, trust := range []bool{false, true} {
		b.Run(fmt.Sprintf("trust-index=%v", trust), func(b *testing.B) {
			w.m.TrustIndex = trust
			b.ReportAllocs()
			for b.Loop() {
				if r := w.run(Done); r.Changed {
					b.Fatalf("changed: %+v", r)
				}
			}
			perFile(b, files)
		})
	}
}

var proofs = map[string]Proof{"full": VerifyFull, "source": VerifySource}

func BenchmarkCopySmallFiles(b *testing.B) {
	const files, size = 2000, 4096
	for name, proof := range proofs {
		b.Run("verify="+name, func(b *testing.B) {
			w := newBench(b)
			w.m.Verify = proof
			w.tree(files, size)
			b.ReportAllocs()
			b.SetBytes(files * size)
			w.fresh(b, func() { w.run(Done) })
			perFile(b, files)
		})
	}
}

func BenchmarkCopyLargeFile(b *testing.B) {
	const size = 64 << 20
	for name, proof := range proofs {
		b.Run("verify="+name, func(b *testing.B) {
			w := newBench(b)
			w.m.Verify = proof
			w.tree(1, size)
			b.ReportAllocs()
			b.SetBytes(size)
			w.fresh(b, func() { w.run(Done) })
		})
	}
}

// BenchmarkBatch times what a batch costs once its files are staged: the intents,
// one sync, reading back, the renames.
func BenchmarkBatch(b *testing.B) {
	const files, size = 900, 2048
	for name, proof := range proofs {
		b.Run("verify="+name, func(b *testing.B) {
			w := newBench(b)
			w.m.Verify = proof
			w.tree(files, size)
			b.ReportAllocs()
			b.SetBytes(files * size)
			w.fresh(b, func() {
				b.StopTimer()
				r, batch := w.staged(b)
				b.StartTimer()
				r.publish(context.Background(), batch)
				b.StopTimer()
				if got := r.dests[0].report.Copied.Files; got != files {
					b.Fatalf("published %d files, want %d", got, files)
				}
				r.close()
				b.StartTimer()
			})
			perFile(b, files)
		})
	}
}

// staged stages the whole source as one batch.
func (w *world) staged(b *testing.B) (*run, []*staged) {
	ctx := context.Background()
	r := newRun(w.m)
	w.must(r.open(ctx))
	w.must(r.scanner.scan(ctx, r.scanner.root()))
	r.tasks.Done()
	var batch []*staged
	for next := spilled(r.tasks); ; {
		t, ok, err := next()
		w.must(err)
		if !ok {
			return r, batch
		}
		s, err := r.stage(ctx, t)
		w.must(err)
		batch = append(batch, s)
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, c := range []struct {
		name        string
		files, size int
	}{{"small", 5000, 4096}, {"large", 1, 64 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			w := newBench(b)
			w.tree(c.files, c.size)
			w.run(Done)
			b.ReportAllocs()
			b.SetBytes(int64(c.files * c.size))
			for b.Loop() {
				a, err := Verify(context.Background(), Hour{Dest: w.m.Dests[0]}, nil)
				w.must(err)
				if a.Equal.Files != int64(c.files) {
					b.Fatalf("got %d equal files, want %d", a.Equal.Files, c.files)
				}
			}
			perFile(b, c.files)
		})
	}
}
