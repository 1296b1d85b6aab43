package index

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func merge(t *testing.T, old *Reader, changes ...Change) []Located {
	t.Helper()
	c := NewChanges(t.TempDir())
	defer c.Close()
	for _, ch := range changes {
		if err := c.Add(ch); err != nil {
			t.Fatal(err)
		}
	}
	if c.Len() != int64(len(changes)) {
		t.Errorf("got Len %d, want %d", c.Len(), len(changes))
	}
	return collect(t, c.Merge(old))
}

// TestMergeIsOldWithChanges compares with a map, which is what a merge means.
func TestMergeIsOldWithChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		want := map[string]Located{}
		var old *Reader
		if r.IntN(5) > 0 {
			entries := randomTree(r, r.IntN(40))
			old = open(t, build(t, entries...))
			for _, l := range entries {
				want[l.Path()] = l
			}
		}
		var changes []Change
		for i := range r.IntN(60) {
			ch := Change{file([]string{"", "a", "a/b", "b", "new"}[r.IntN(5)], fmt.Sprintf("a%d", r.IntN(12)), int64(9000+i)), r.IntN(3) == 0}
			if known := slices.Collect(maps.Values(want)); len(known) > 0 && r.IntN(2) == 0 {
				k := known[r.IntN(len(known))]
				ch.Dir, ch.Name = k.Dir, k.Name
			}
			changes = append(changes, ch)
			want[ch.Path()] = ch.Located
			if ch.Gone {
				delete(want, ch.Path())
			}
		}
		same(t, "merge", merge(t, old, changes...), slices.SortedFunc(maps.Values(want), byKey))
	}
}

func TestGoneFolderLeavesWhatIsBelow(t *testing.T) {
	old := open(t, build(t, folder("", "a"), file("a", "x", 1)))
	same(t, "merge", merge(t, old, Change{folder("", "a"), true}), []Located{file("a", "x", 1)})
}

func TestMergedEntriesMakeAnIdx(t *testing.T) {
	old := open(t, build(t, randomTree(rand.New(rand.NewPCG(7, 8)), 50)...))
	got := merge(t, old, Change{file("zz", "new", 1), false}, Change{file("", "\x01", 2), false})
	same(t, "All", collect(t, open(t, build(t, got...)).All()), got)
}

func TestChangesRefuseWhatNoIdxHolds(t *testing.T) {
	c := NewChanges(t.TempDir())
	defer c.Close()
	for _, l := range []Located{file("", "", 1), file("..", "x", 1), file("", "a/b", 1), file("", "x", -1)} {
		if err := c.Add(Change{l, false}); err == nil {
			t.Errorf("%q in %q was taken", l.Name, l.Dir)
		}
	}
}

func TestMergeTellsOfDamage(t *testing.T) {
	idx := build(t, file("", "x", 1), file("a", "x", 1))
	idx[len(idx)-trailerSize-3*rowSize] ^= 1 // in the last block
	old := open(t, idx)
	c := NewChanges(t.TempDir())
	defer c.Close()
	var last error
	for _, err := range c.Merge(old) {
		last = err
	}
	if !errors.Is(last, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", last)
	}
	for _, err := range c.Merge(nil) {
		if last = err; err == nil {
			t.Error("merged twice")
		}
	}
	if last == nil {
		t.Error("the second Merge is no error")
	}
}

const million = 1_000_000

// millionFiles are 100 files a folder, in the order of Key.
func millionFiles(yield func(Located) bool) {
	for i := range int64(million) {
		if !yield(file(fmt.Sprintf("photos/%04d", i/100), fmt.Sprintf("IMG_%07d.jpg", i), i)) {
			return
		}
	}
}

func millionIdx(b *testing.B) []byte {
	var out bytes.Buffer
	w := NewWriter(&out, testHeader)
	for l := range millionFiles {
		if err := w.Add(l.Dir, l.Entry); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

func BenchmarkWriteMillion(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(millionIdx(b))))
	}
}

func BenchmarkReadMillion(b *testing.B) {
	r := open(b, millionIdx(b))
	for name, seq := range map[string]func() int{
		"All": func() (n int) {
			for range r.All() {
				n++
			}
			return n
		},
		"Walk": func() (n int) {
			for range r.Walk() {
				n++
			}
			return n
		},
		"Dir": func() (n int) {
			for i := range million / 100 {
				entries, _, _ := entriesOf(r, fmt.Sprintf("photos/%04d", i))
				n += len(entries)
			}
			return n
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n := seq(); n != million {
					b.Fatalf("got %d entries, want %d", n, million)
				}
			}
		})
	}
}

func BenchmarkMergeMillion(b *testing.B) {
	old := open(b, millionIdx(b))
	for _, every := range []int64{1000, 1} {
		b.Run(fmt.Sprintf("one of %d changed", every), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := NewChanges(b.TempDir())
				i := int64(0)
				for l := range millionFiles {
					if i++; i%every == 0 {
						if err := c.Add(Change{l, false}); err != nil {
							b.Fatal(err)
						}
					}
				}
				n := 0
				for _, err := range c.Merge(old) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != million {
					b.Fatalf("got %d entries, want %d", n, million)
				}
				c.Close()
			}
		})
	}
}
