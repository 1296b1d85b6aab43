package index

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// A run in a Sorter's file is a sequence of records: the lengths of key and value
// as uvarints, key, value.

type runWriter struct {
	w   *bufio.Writer
	buf []byte
	n   int64
	err error
}

func newRunWriter(w io.Writer) *runWriter {
	return &runWriter{w: bufio.NewWriterSize(w, 256<<10)}
}

func (w *runWriter) add(key, value []byte) {
	w.buf = binary.AppendUvarint(w.buf[:0], uint64(len(key)))
	w.buf = binary.AppendUvarint(w.buf, uint64(len(value)))
	for _, b := range [][]byte{w.buf, key, value} {
		if w.err == nil {
			_, w.err = w.w.Write(b)
			w.n += int64(len(b))
		}
	}
}

func (w *runWriter) close() (size int64, err error) {
	if w.err != nil {
		return 0, w.err
	}
	return w.n, w.w.Flush()
}

// merger merges the runs in the file and, as the youngest, what is in memory.
type merger struct {
	s          *Sorter
	key, value []byte // of the present record
	heap       runHeap
	present    *run // whose record is present; it is on top of the heap
}

// run is a sequence of sorted records.
type run struct {
	age        int           // the order of runs, for stability
	in         *bufio.Reader // nil: the one in memory
	left, at   int           // records to come, and the place of the next in memory
	buf        []byte
	key, value []byte
}

// start opens the runs. Their buffers together take no more than the arena did.
func (m *merger) start() error {
	s := m.s
	runs := []*run{{age: len(s.runs), left: len(s.records)}}
	for i, x := range s.runs {
		size := min(max(s.memory/len(s.runs), 4<<10), 64<<10)
		in := bufio.NewReaderSize(io.NewSectionReader(s.file, x.start, x.end-x.start), size)
		runs = append(runs, &run{age: i, in: in, left: x.records})
	}
	for _, r := range runs {
		ok, err := r.next(s)
		if err != nil {
			return err
		}
		if ok {
			m.heap = append(m.heap, r)
		}
	}
	heap.Init(&m.heap)
	return nil
}

// next makes the next record the present one; false: the end, or an error, which
// the Sorter keeps.
func (m *merger) next() bool {
	if m.present != nil {
		ok, err := m.present.next(m.s)
		switch {
		case err != nil:
			m.fail(err)
		case ok:
			heap.Fix(&m.heap, 0)
		default:
			heap.Pop(&m.heap)
		}
	}
	if len(m.heap) == 0 {
		m.present = nil
		return false
	}
	m.present = m.heap[0]
	m.key, m.value = m.present.key, m.present.value
	return true
}

func (m *merger) fail(err error) {
	m.heap = nil
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.err = err
}

// next makes the next record the present one; false: the end.
func (r *run) next(s *Sorter) (ok bool, err error) {
	if r.left == 0 {
		return false, nil
	}
	r.left--
	if r.in != nil {
		return true, r.read(uint64(s.memory))
	}
	r.key, r.value = s.key(s.records[r.at]), s.value(s.records[r.at])
	r.at++
	return true, nil
}

// read takes a record from the file.
func (r *run) read(limit uint64) error {
	k, keyErr := binary.ReadUvarint(r.in)
	v, valueErr := binary.ReadUvarint(r.in)
	err := cmp.Or(keyErr, valueErr)
	if err == nil && (k > limit || v > limit) {
		return errScratch
	}
	if err == nil {
		r.buf = slices.Grow(r.buf[:0], int(k+v))[:k+v]
		_, err = io.ReadFull(r.in, r.buf)
	}
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return errScratch
	case err != nil:
		return fmt.Errorf("read back what was spilled: %w", err)
	}
	r.key, r.value = r.buf[:k], r.buf[k:]
	return nil
}

// runHeap has the run with the least key, and of equal ones the oldest, on top.
type runHeap []*run

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	c := bytes.Compare(h[i].key, h[j].key)
	return c < 0 || c == 0 && h[i].age < h[j].age
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *runHeap) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}
