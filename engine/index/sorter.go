package index

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
)

// sorterMemory is what a Sorter holds before it writes a sorted run to disk. A
// mirror has some six of them and 40 to 100 MB in all. 1,000,000
// records of 150 bytes make 20 runs; 16 MB is a fifth faster, 4 MB a third slower.
const sorterMemory = 8 << 20

// Sorter sorts records by key, in bounded memory (8 MB), stable for equal keys.
type Sorter struct {
	scratch string
	memory  int // sorterMemory; tests take less

	// mu guards all below, also while a run is written: whoever adds more than
	// memory holds has to wait for the disk.
	mu      sync.Mutex
	arena   []byte // keys and values, one after the other
	records []slot
	runs    []span // of file, the oldest first
	file    *os.File
	size    int64 // of file
	n       int64
	ended   bool // nothing may be added
	err     error
}

// slot is where a record lies in the arena: the key, then the value.
type slot struct{ start, key, value uint32 }

// span is where a run lies in the file, and how many records it has.
type span struct {
	start, end int64
	records    int
}

const recordSize = 12

var errSorted = errors.New("sorter: used after Sorted or Close")

// NewSorter makes an empty Sorter. It spills into an unlinked file in folder
// scratch, made when it is first needed.
func NewSorter(scratch string) *Sorter { return &Sorter{scratch: scratch, memory: sorterMemory} }

// Add copies key and value. From any goroutine. One record is at most 8 MB.
func (s *Sorter) Add(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.ended {
		return errSorted
	}
	n := len(key) + len(value)
	if n > s.memory {
		return fmt.Errorf("sort: a record of %d bytes is too large", n)
	}
	if len(s.arena)+n+recordSize*(len(s.records)+1) > s.memory {
		if s.err = s.spill(); s.err != nil {
			return s.err
		}
	}
	s.records = append(s.records, slot{uint32(len(s.arena)), uint32(len(key)), uint32(len(value))})
	s.arena = append(append(s.arena, key...), value...)
	s.n++
	return nil
}

// Len is how many records were added.
func (s *Sorter) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// Sorted yields all records in order; the slices hold until the next step. It
// may be called once; nothing may be added after it. It ends early at an error:
// ask Err.
func (s *Sorter) Sorted() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		m := s.merge()
		for m.next() && yield(m.key, m.value) {
		}
	}
}

// Err is the first error of adding or sorting.
func (s *Sorter) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close frees memory and disk. It may be called more than once.
func (s *Sorter) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arena, s.records, s.runs = nil, nil, nil
	s.ended = true
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

func (s *Sorter) key(r slot) []byte   { return s.arena[r.start : r.start+r.key] }
func (s *Sorter) value(r slot) []byte { return s.arena[r.start+r.key : r.start+r.key+r.value] }

func (s *Sorter) sort() {
	slices.SortFunc(s.records, func(a, b slot) int {
		return cmp.Or(bytes.Compare(s.key(a), s.key(b)), cmp.Compare(a.start, b.start))
	})
}

// spill sorts what is in memory and appends it to the file as a run.
func (s *Sorter) spill() error {
	if s.file == nil {
		f, err := newScratch(s.scratch)
		if err != nil {
			return err
		}
		s.file = f
	}
	s.sort()
	w := newRunWriter(io.NewOffsetWriter(s.file, s.size))
	for _, r := range s.records {
		w.add(s.key(r), s.value(r))
	}
	n, err := w.close()
	if err != nil {
		return err
	}
	s.runs = append(s.runs, span{s.size, s.size + n, len(s.records)})
	s.size += n
	s.arena, s.records = s.arena[:0], s.records[:0]
	return nil
}

// merge ends the adding and starts the reading.
func (s *Sorter) merge() *merger {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &merger{s: s}
	if s.ended && s.err == nil {
		s.err = errSorted
	}
	if s.err != nil {
		return m
	}
	s.ended = true
	if len(s.runs) > 0 {
		// what is in memory goes the way of the rest: the buffers of the runs take
		// its place
		if s.err = s.spill(); s.err != nil {
			return m
		}
		s.arena, s.records = nil, nil
	}
	s.sort()
	if s.err = m.start(); s.err != nil {
		m.heap = nil
	}
	return m
}
