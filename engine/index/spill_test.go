package index

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
)

// TestSpillKeepsOrder puts and takes at changing speeds, so that records wait in
// memory, in the file's buffers and in the file.
func TestSpillKeepsOrder(t *testing.T) {
	for name, size := range map[string]int{"short": 20, "long": 4000, "huge": 600_000} {
		t.Run(name, func(t *testing.T) {
			scratch := t.TempDir()
			s := NewSpill(scratch)
			s.maxRecords, s.maxBytes = 500, 1<<20
			r := rand.New(rand.NewPCG(1, 2))
			put, taken, spilled := uint64(0), uint64(0), false
			rec := func(i uint64) []byte {
				n := int(i*7919) % size
				return append(binary.BigEndian.AppendUint64(nil, i), make([]byte, n)...)
			}
			take := func(n uint64) {
				for range n {
					got, ok, err := s.Next()
					if !ok || err != nil || !bytes.Equal(got, rec(taken)) {
						t.Fatalf("record %d: got %d bytes, %v, %v", taken, len(got), ok, err)
					}
					taken++
				}
			}
			burst := min(30_000, 6_000_000/size)
			for range 12 {
				for range r.IntN(burst) {
					if err := s.Put(rec(put)); err != nil {
						t.Fatal(err)
					}
					put++
				}
				spilled = spilled || s.file.f != nil
				take(r.Uint64N(put - taken + 1))
			}
			s.Done()
			take(put - taken)
			if _, ok, err := s.Next(); ok || err != nil {
				t.Errorf("after the last: got %v, %v, want the end", ok, err)
			}
			if !spilled {
				t.Error("nothing was spilled: the test is too small")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

func TestSpillBoundsItsMemory(t *testing.T) {
	for _, size := range []int{0, 1 << 20} {
		s := NewSpill(t.TempDir())
		defer s.Close()
		for s.file.n < 10 {
			if err := s.Put(make([]byte, size)); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.queue) > spillRecords || s.bytes > spillBytes {
			t.Errorf("records of %d bytes: %d with %d bytes in memory, %d behind", size, len(s.queue), s.bytes, s.file.n)
		}
	}
}

func TestSpillNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSpill(t.TempDir())
		var got []string
		var ended []bool
		go func() {
			for {
				rec, ok, err := s.Next()
				if err != nil {
					t.Error(err)
				}
				if !ok {
					ended = append(ended, true)
					return
				}
				got = append(got, string(rec))
			}
		}()
		synctest.Wait()
		if len(got) > 0 || len(ended) > 0 {
			t.Fatalf("Next came back from an empty queue: %q, %v", got, ended)
		}
		if err := s.Put([]byte("a")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(got) != 1 || got[0] != "a" || len(ended) > 0 {
			t.Fatalf("got %q, ended %v, want a", got, ended)
		}
		s.Done()
		synctest.Wait()
		if len(ended) != 1 {
			t.Fatal("Done did not end Next")
		}
		if s.Put([]byte("b")) == nil {
			t.Error("Put after Done was taken")
		}
	})
}

func TestSpillCloseWakesAll(t *testing.T) {
	s := NewSpill(t.TempDir())
	var waiting sync.WaitGroup
	for range 4 {
		waiting.Go(func() {
			if _, ok, err := s.Next(); ok || err != nil {
				t.Errorf("got %v, %v, want the end", ok, err)
			}
		})
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	waiting.Wait()
	if s.Put(nil) == nil {
		t.Error("Put after Close was taken")
	}
}

func TestSpillServesManyGoroutinesEachRecordOnce(t *testing.T) {
	s := NewSpill(t.TempDir())
	defer s.Close()
	const producers, each = 4, 40_000
	var seen [producers * each]int
	var mu sync.Mutex
	var putting, taking sync.WaitGroup
	for p := range producers {
		putting.Go(func() {
			for i := range each {
				if err := s.Put(binary.BigEndian.AppendUint32(nil, uint32(p*each+i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		taking.Go(func() {
			for {
				rec, ok, err := s.Next()
				if !ok || err != nil {
					return
				}
				mu.Lock()
				seen[binary.BigEndian.Uint32(rec)]++
				mu.Unlock()
			}
		})
	}
	putting.Wait()
	s.Done()
	taking.Wait()
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("record %d came %d times", i, n)
		}
	}
}

func TestSpillTellsOfMissingScratch(t *testing.T) {
	s := NewSpill("/nowhere/at/all")
	defer s.Close()
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		err = s.Put(make([]byte, 1<<20))
	}
	if err == nil {
		t.Fatal("100 MB went into a folder that is not there")
	}
	if _, _, nextErr := s.Next(); nextErr == nil {
		t.Error("Next gives records though some were lost")
	}
}

func BenchmarkSpillMillion(b *testing.B) {
	b.ReportAllocs()
	rec := make([]byte, 150)
	for b.Loop() {
		s := NewSpill(b.TempDir())
		for range million {
			if err := s.Put(rec); err != nil {
				b.Fatal(err)
			}
		}
		for range million {
			if _, ok, err := s.Next(); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
		s.Close()
	}
}
