package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func openBench(b *testing.B) (d *Dir, v Volume) {
	b.Helper()
	d, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	if v, err = d.Volume(); err != nil {
		b.Fatal(err)
	}
	return d, v
}

func BenchmarkList(b *testing.B) {
	const files = 20_000
	d, _ := openBench(b)
	for i := range files {
		if err := os.WriteFile(filepath.Join(d.name, fmt.Sprintf("file%05d", i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		names, err := d.Names()
		if err != nil || len(names) != files {
			b.Fatalf("got %d names, %v", len(names), err)
		}
		for _, n := range names {
			if _, err := d.Stat(n); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(files*float64(b.N)/b.Elapsed().Seconds(), "files/s")
}

// benchFile is durable, so that a benchmark reads past the cache what is on the
// drive.
func benchFile(b *testing.B, d *Dir, size int) *os.File {
	b.Helper()
	f, err := d.Create("file")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	_, err = f.Write(bytes.Repeat([]byte("0123456789abcdef"), size/16))
	if err = errors.Join(err, f.Sync()); err != nil {
		b.Fatal(err)
	}
	return f
}

const benchSize = 64 << 20

func BenchmarkStream(b *testing.B) {
	d, _ := openBench(b)
	f := benchFile(b, d, benchSize)
	b.ReportAllocs()
	b.SetBytes(benchSize)
	for b.Loop() {
		s := NewStream(f, benchSize, 8, atOnce)
		n := 0
		for {
			p, err := s.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n += len(p.Bytes)
			p.Free()
		}
		if s.Close(); n != benchSize {
			b.Fatalf("got %d bytes, want %d", n, benchSize)
		}
	}
}

func BenchmarkReadBack(b *testing.B) {
	d, v := openBench(b)
	c, err := Probe(d)
	if err != nil {
		b.Fatal(err)
	}
	f := benchFile(b, d, benchSize)
	b.ReportAllocs()
	b.SetBytes(benchSize)
	for b.Loop() {
		n := 0
		_, err := ReadBack(f, v, c, atOnce, func(p []byte) error { n += len(p); return nil })
		if err != nil || n != benchSize {
			b.Fatalf("got %d bytes, %v", n, err)
		}
	}
}

// BenchmarkSync makes a batch of small files durable; writing them is not timed.
func BenchmarkSync(b *testing.B) {
	const files, size = 500, 2048
	d, v := openBench(b)
	s, err := NewSyncer(d, v)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	batch := make([]*os.File, files)
	for i := range batch {
		if batch[i], err = d.Create(fmt.Sprint(i)); err != nil {
			b.Fatal(err)
		}
		defer batch[i].Close()
	}
	data := make([]byte, size)
	b.ReportAllocs()
	b.SetBytes(files * size)
	for b.Loop() {
		b.StopTimer()
		data[0]++
		for _, f := range batch {
			if _, err := f.WriteAt(data, 0); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if err := s.Sync(context.Background(), batch, []*Dir{d}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(files*float64(b.N)/b.Elapsed().Seconds(), "files/s")
}
