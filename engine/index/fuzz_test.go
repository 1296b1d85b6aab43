package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/record"
)

// FuzzReader reads any bytes.
func FuzzReader(f *testing.F) {
	f.Add(build(f, file("", "x", 1), file("a/b", "x", 2)))
	f.Add(build(f))
	f.Fuzz(func(t *testing.T, idx []byte) {
		r, err := NewReader(bytes.NewReader(idx), int64(len(idx)), "idx")
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want ErrDamaged", err)
			}
			return
		}
		checkReader(t, r)
	})
}

// FuzzBlocks reads any chunks and rows under good checksums, as someone would
// make them who wants to mislead us.
func FuzzBlocks(f *testing.F) {
	good := build(f, file("", "x", 1), file("", "x2", 7), file("a/b", "x", 2))
	for x := range open(f, good).chunksForTest() {
		f.Add(x.payload, byte(firstChunk|lastChunk), []byte("\x01\x00y"), byte(lastChunk), byte(0))
		f.Add(x.payload, byte(firstChunk), x.payload, byte(firstChunk|lastChunk), byte(1))
		f.Add(x.payload, byte(firstChunk), x.payload, byte(lastChunk), byte(2))
	}
	f.Fuzz(func(t *testing.T, payloadA []byte, placeA byte, payloadB []byte, placeB, rows byte) {
		idx := sealed(rows, chunkIn{placeA, payloadA}, chunkIn{placeB, payloadB})
		r, err := NewReader(bytes.NewReader(idx), int64(len(idx)), "idx")
		if err != nil {
			t.Fatalf("the frame is good, but: %v", err)
		}
		checkReader(t, r)
	})
}

type chunkIn struct {
	place   byte
	payload []byte
}

// chunksForTest yields all chunks of a good idx.
func (r *Reader) chunksForTest() iter.Seq[chunkIn] {
	return func(yield func(chunkIn) bool) {
		in := chunks{r: r.r, next: r.start, end: r.table}
		for {
			place, payload, err := in.read()
			if err != nil || !yield(chunkIn{place, slices.Clone(payload)}) {
				return
			}
		}
	}
}

// sealed puts chunks into an idx; rows tells how the table speaks of them: a row
// for each, one for both, or overlapping ones.
func sealed(rows byte, chunks ...chunkIn) []byte {
	header := appendHeader(nil, testHeader)
	idx := slices.Clone(header)
	var blocks []row
	for _, c := range chunks {
		start := len(idx)
		idx = binary.LittleEndian.AppendUint32(idx, uint32(len(c.payload)))
		idx = append(append(idx, c.place), c.payload...)
		idx = binary.LittleEndian.AppendUint64(idx, chunkSum(idx[start:], int64(start)))
		dir := decoder{record.Reader{Rest: c.payload}}
		blocks = append(blocks, row{xxh3.Hash(dir.Take(dir.Uvarint())), int64(start), int64(len(idx) - start)})
	}
	switch rows % 3 {
	case 1:
		blocks = []row{{blocks[0].hash, blocks[0].offset, int64(len(idx)) - blocks[0].offset}}
	case 2:
		blocks[0].length = int64(len(idx)) - blocks[0].offset
	}
	slices.SortFunc(blocks, byHash)
	table := len(idx)
	for _, r := range blocks {
		idx = appendRow(idx, r)
	}
	t := trailer{table: int64(table), rows: int64(len(blocks)), entries: 1 << 20, tableSum: xxh3.Hash(idx[table:])}
	return appendTrailer(idx, t, header)
}

// checkReader expects that whatever comes through is in order and harmless, and
// that every error is ErrDamaged.
func checkReader(t *testing.T, r *Reader) {
	t.Helper()
	dirs := map[string]bool{"": true, "a": true}
	check := func(seq iter.Seq2[Located, error], order func(a, b Located) int) {
		var last Located
		for l, err := range seq {
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("got %v, want ErrDamaged", err)
				}
				break
			}
			if err := errors.Join(checkDir(l.Dir), checkEntry(&l.Entry)); err != nil {
				t.Errorf("%q in %q came through: %v", l.Name, l.Dir, err)
			}
			if last.Name != "" && order(last, l) >= 0 {
				t.Errorf("%q after %q came through", l.Path(), last.Path())
			}
			last, dirs[l.Dir] = l, true
		}
	}
	check(r.All(), byKey)
	check(r.Walk(), byPath)
	for dir := range dirs {
		entries, ok, err := entriesOf(r, dir)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("folder %q: got %v, want ErrDamaged", dir, err)
		}
		if ok != (len(entries) > 0) || ok && err != nil {
			t.Errorf("folder %q: got %d entries, ok %v, error %v", dir, len(entries), ok, err)
		}
	}
}
