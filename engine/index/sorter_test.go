package index

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

type pair struct{ key, value string }

func sorted(t *testing.T, s *Sorter) (got []pair) {
	t.Helper()
	for k, v := range s.Sorted() {
		got = append(got, pair{string(k), string(v)})
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSorterIsStableInMemoryAndOnDisk(t *testing.T) {
	pad := bytes.Repeat([]byte("p"), 1000)
	for _, n := range []int{0, 1, 5000, 60_000} { // 60 MB: three runs on disk and one in memory
		scratch := t.TempDir()
		s := NewSorter(scratch)
		defer s.Close()
		r := rand.New(rand.NewPCG(1, uint64(n)))
		var want []pair
		for i := range n {
			p := pair{fmt.Sprintf("%d", r.IntN(n/3+1)), fmt.Sprintf("%d", i)}
			want = append(want, p)
			if err := s.Add([]byte(p.key), append([]byte(p.value+" "), pad...)); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortStableFunc(want, func(a, b pair) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
		if onDisk := len(s.runs) >= 3; onDisk != (n == 60_000) {
			t.Errorf("%d records: %d runs on disk", n, len(s.runs))
		}
		got := sorted(t, s)
		for i := range got {
			got[i].value = got[i].value[:bytes.IndexByte([]byte(got[i].value), ' ')]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d records: order differs", n)
		}
		if s.Len() != int64(n) {
			t.Errorf("got Len %d, want %d", s.Len(), n)
		}
	}
}

func TestSorterKeepsItsBound(t *testing.T) {
	s := NewSorter(t.TempDir())
	defer s.Close()
	for range 2_000_000 { // nearly empty records: their list is the memory
		if err := s.Add([]byte("k"), nil); err != nil {
			t.Fatal(err)
		}
		if n := len(s.arena) + recordSize*len(s.records); n > sorterMemory {
			t.Fatalf("holds %d bytes, want at most %d", n, sorterMemory)
		}
	}
	if err := s.Add(make([]byte, sorterMemory), []byte("v")); err == nil {
		t.Error("a record that memory cannot hold was taken")
	}
}

func TestSorterLeavesNoFiles(t *testing.T) {
	scratch := t.TempDir()
	s := NewSorter(scratch)
	value := make([]byte, 1<<20)
	for i := range 40 {
		if err := s.Add([]byte{byte(i)}, value); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil {
		t.Fatal("nothing was spilled")
	}
	for range s.Sorted() {
		break
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestSorterRefusesLateUse(t *testing.T) {
	s := NewSorter(t.TempDir())
	sorted(t, s)
	if err := s.Add([]byte("k"), nil); err == nil {
		t.Error("a record was added after Sorted")
	}
	for range s.Sorted() {
		t.Error("sorted twice")
	}
	if s.Err() == nil {
		t.Error("the second Sorted is no error")
	}
}

func TestSorterTellsOfMissingScratch(t *testing.T) {
	s := NewSorter(filepath.Join(t.TempDir(), "gone"))
	defer s.Close()
	var err error
	for i := 0; i < 40 && err == nil; i++ {
		err = s.Add([]byte{byte(i)}, make([]byte, 1<<20))
	}
	if !errors.Is(err, os.ErrNotExist) || !errors.Is(s.Err(), os.ErrNotExist) {
		t.Errorf("got %v and %v, want that the folder does not exist", err, s.Err())
	}
	for range s.Sorted() {
		t.Error("records came through after an error")
	}
}

func TestSorterTellsWhenScratchIsCutOff(t *testing.T) {
	s := NewSorter(t.TempDir())
	defer s.Close()
	for i := range 40 {
		if err := s.Add([]byte{byte(i)}, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.file.Truncate(s.size - 10); err != nil {
		t.Fatal(err)
	}
	n := 0
	for range s.Sorted() {
		n++
	}
	if s.Err() == nil {
		t.Errorf("%d records and no error", n)
	}
}

func TestSorterTakesFromManyGoroutines(t *testing.T) {
	s := NewSorter(t.TempDir())
	defer s.Close()
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 1000 {
				if err := s.Add(fmt.Appendf(nil, "%d-%04d", g, i), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got := sorted(t, s)
	if len(got) != 8000 || !slices.IsSortedFunc(got, func(a, b pair) int { return bytes.Compare([]byte(a.key), []byte(b.key)) }) {
		t.Errorf("got %d records, sorted or not, want 8000 in order", len(got))
	}
}
