package index

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

type pair struct{ key, value string }

// smallSorter spills after 128 KB.
func smallSorter(t *testing.T) *Sorter {
	s := NewSorter(t.TempDir())
	s.memory = 128 << 10
	return s
}

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
	pad := bytes.Repeat([]byte("p"), 100)
	for _, n := range []int{0, 1, 500, 6000} {
		s := smallSorter(t)
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
		if onDisk := len(s.runs) >= 3; onDisk != (n == 6000) {
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
	s := smallSorter(t)
	defer s.Close()
	for range 50_000 { // nearly empty records: their list is the memory
		if err := s.Add([]byte("k"), nil); err != nil {
			t.Fatal(err)
		}
		if n := len(s.arena) + recordSize*len(s.records); n > s.memory {
			t.Fatalf("holds %d bytes, want at most %d", n, s.memory)
		}
	}
	if err := s.Add(make([]byte, s.memory), []byte("v")); err == nil {
		t.Error("a record that memory cannot hold was taken")
	}
}

func TestSorterLeavesNoFiles(t *testing.T) {
	s := smallSorter(t)
	value := make([]byte, 10_000)
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
	if left, err := os.ReadDir(s.scratch); err != nil || len(left) > 0 {
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
	s := smallSorter(t)
	s.scratch = filepath.Join(s.scratch, "gone")
	defer s.Close()
	var err error
	for i := 0; i < 40 && err == nil; i++ {
		err = s.Add([]byte{byte(i)}, make([]byte, 10_000))
	}
	if !errors.Is(err, os.ErrNotExist) || !errors.Is(s.Err(), os.ErrNotExist) {
		t.Errorf("got %v and %v, want that the folder does not exist", err, s.Err())
	}
	for range s.Sorted() {
		t.Error("records came through after an error")
	}
}

func TestSorterTellsWhenScratchIsCutOff(t *testing.T) {
	const recordBytes = 1 + 2 + 1 + 10_000 // two lengths, key, value
	for _, cut := range []int64{1, recordBytes - 4, recordBytes - 3, recordBytes - 2, recordBytes - 1, recordBytes, 3 * recordBytes} {
		s := smallSorter(t)
		defer s.Close()
		for i := range 40 {
			if err := s.Add([]byte{byte(i)}, make([]byte, 10_000)); err != nil {
				t.Fatal(err)
			}
		}
		m := s.merge()
		if err := s.file.Truncate(s.runs[0].end - cut); err != nil {
			t.Fatal(err)
		}
		n := 0
		for m.next() {
			n++
		}
		if err := s.Err(); err == nil || err == io.EOF {
			t.Errorf("%d bytes cut off: got %d records and error %v", cut, n, err)
		}
	}
}

func TestSorterTakesFromManyGoroutines(t *testing.T) {
	s := smallSorter(t)
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
