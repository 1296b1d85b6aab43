package manifest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

const benchLines = 100_000

func benchPaths() (paths []string) {
	for i := range benchLines {
		paths = append(paths, fmt.Sprintf("Pictures/folder%03d/IMG_20240506_%02d.jpg", i/100, i%100))
	}
	return paths
}

// writeFile writes a manifest without names as a real file.
func writeFile(b *testing.B, name string, paths []string) {
	b.Helper()
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := NewWriter(f, f)
	for i, p := range paths {
		if err := w.Add(p, Hash{byte(i), byte(i >> 8)}); err != nil {
			b.Fatal(err)
		}
	}
	if _, lines, _, err := w.Close(); err != nil || lines != benchLines {
		b.Fatalf("wrote %d lines: %v", lines, err)
	}
}

// perLine reports the lines and the bytes that a benchmark got through.
func perLine(b *testing.B, name string) {
	b.Helper()
	info, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportMetric(benchLines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

func BenchmarkWriteFile(b *testing.B) {
	paths, name := benchPaths(), filepath.Join(b.TempDir(), "14.xxh128")
	b.ReportAllocs()
	for b.Loop() {
		writeFile(b, name, paths)
	}
	perLine(b, name)
}

func BenchmarkReadFile(b *testing.B) {
	name := filepath.Join(b.TempDir(), "14.xxh128")
	writeFile(b, name, benchPaths())
	b.ReportAllocs()
	for b.Loop() {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, err := range Read(bufio.NewReader(f), nil) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if f.Close(); n != benchLines {
			b.Fatalf("got %d lines, want %d", n, benchLines)
		}
	}
	perLine(b, name)
}

func BenchmarkIntents(b *testing.B) {
	paths := benchPaths()
	name := filepath.Join(b.TempDir(), "14.next")
	b.ReportAllocs()
	for b.Loop() {
		var buf []byte
		for i, p := range paths {
			buf = AppendIntent(buf, Line{Path: p, Hash: Hash{byte(i)}, Remove: i%8 == 0})
		}
		if err := os.WriteFile(name, buf, 0o600); err != nil {
			b.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range ReadIntents(f) {
			if err != nil {
				b.Fatal(err)
			}
		}
		f.Close()
	}
	perLine(b, name)
}
