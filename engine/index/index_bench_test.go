package index

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

const benchFolders, benchFiles = 1000, 100 // in each folder

func folderName(i int) string { return fmt.Sprintf("folder%04d", i) }

// eachOf calls add for a tree of benchFolders times benchFiles, in the idx's order.
func eachOf(b *testing.B, add func(Located) error) {
	b.Helper()
	var err error
	for d := 0; d < benchFolders && err == nil; d++ {
		err = add(folder("", folderName(d)))
	}
	for d := range benchFolders {
		for f := 0; f < benchFiles && err == nil; f++ {
			err = add(file(folderName(d), fmt.Sprintf("file%02d", f), int64(d*benchFiles+f)))
		}
	}
	if err != nil {
		b.Fatal(err)
	}
}

// idxFile is that tree as a real file.
func idxFile(b *testing.B) *Reader {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "14.idx"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	out := bufio.NewWriter(f)
	w := NewWriter(out, testHeader)
	eachOf(b, func(l Located) error { return w.Add(l.Dir, l.Entry) })
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	r, err := NewReader(f, info.Size(), "14.idx")
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func perEntry(b *testing.B, n int64) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

func BenchmarkWriter(b *testing.B) {
	var entries []Located
	eachOf(b, func(l Located) error { entries = append(entries, l); return nil })
	var out bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		w := NewWriter(&out, testHeader)
		for _, l := range entries {
			if err := w.Add(l.Dir, l.Entry); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(out.Len()))
	perEntry(b, int64(len(entries)))
}

// BenchmarkDir looks up folders in the order of chance, as a run does that
// compares several at once.
func BenchmarkDir(b *testing.B) {
	r := idxFile(b)
	order := rand.New(rand.NewPCG(1, 2)).Perm(benchFolders)
	b.ReportAllocs()
	for b.Loop() {
		for _, d := range order {
			if got, ok, err := entriesOf(r, folderName(d)); err != nil || !ok || len(got) != benchFiles {
				b.Fatalf("got %d entries, %v, %v", len(got), ok, err)
			}
		}
	}
	b.ReportMetric(benchFolders*float64(b.N)/b.Elapsed().Seconds(), "folders/s")
}

// BenchmarkMerge makes a new idx's entries of an old one and a change in a
// hundred.
func BenchmarkMerge(b *testing.B) {
	r := idxFile(b)
	scratch := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		c := NewChanges(scratch)
		for d := range benchFolders {
			if err := c.Add(Change{file(folderName(d), "file50", int64(d)), d%10 == 0}); err != nil {
				b.Fatal(err)
			}
		}
		n := int64(0)
		for _, err := range c.Merge(r) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if want := r.Len() - benchFolders/10; n != want {
			b.Fatalf("got %d entries, want %d", n, want)
		}
		c.Close()
	}
	perEntry(b, r.Len())
}

func BenchmarkWalk(b *testing.B) {
	r := idxFile(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range r.Walk() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	perEntry(b, r.Len())
}

// BenchmarkSorter sorts what fits into memory, and four times as much as does.
func BenchmarkSorter(b *testing.B) {
	for name, records := range map[string]int{"memory": 50_000, "disk": 400_000} {
		b.Run(name, func(b *testing.B) {
			scratch := b.TempDir()
			value := make([]byte, 48)
			var key [16]byte
			b.ReportAllocs()
			b.SetBytes(int64(records * (len(key) + len(value))))
			for b.Loop() {
				s := NewSorter(scratch)
				random := rand.New(rand.NewPCG(1, 2))
				for range records {
					binary.BigEndian.PutUint64(key[:], random.Uint64())
					if err := s.Add(key[:], value); err != nil {
						b.Fatal(err)
					}
				}
				if onDisk := len(s.runs) > 0; onDisk != (name == "disk") {
					b.Fatalf("%d runs on disk", len(s.runs))
				}
				for range s.Sorted() {
				}
				if err := s.Err(); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
			perEntry(b, int64(records))
		})
	}
}
