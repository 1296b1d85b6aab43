package index

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"
)

// Read-ahead of a stream over the whole file, and of a single folder.
const (
	aheadAll = 256 << 10
	aheadDir = 80 << 10 // a usual chunk in one read
)

// Reader reads an idx. It may be used from several goroutines. It holds 24 bytes
// a folder in memory, and reads everything else when asked, never by mapping the
// file: a mapped file on a drive that is pulled kills the process.
type Reader struct {
	r       io.ReaderAt
	name    string
	header  Header
	start   int64 // of the blocks
	table   int64 // end of the blocks
	entries int64
	rows    []row // by hash
}

// NewReader checks header, table and their checksums, not yet the blocks. name
// is for error texts. ErrDamaged if they are not those of an idx; errors of r as
// they are. r must stay open as long as the Reader is used.
func NewReader(r io.ReaderAt, size int64, name string) (*Reader, error) {
	x := &Reader{r: r, name: name}
	if err := x.load(size); err != nil {
		return nil, x.wrap(err)
	}
	return x, nil
}

func (r *Reader) wrap(err error) error {
	return fmt.Errorf("read index %s: %w", r.name, err)
}

func (r *Reader) load(size int64) error {
	head := make([]byte, min(int64(maxHeader), max(size, 0)))
	if err := readAt(r.r, head, 0); err != nil {
		return err
	}
	h, n, err := parseHeader(head)
	if err != nil {
		return damaged("%w", err)
	}
	end := size - trailerSize
	if end < int64(n) {
		return damaged("cut off at %d", size)
	}
	tail := make([]byte, trailerSize)
	if err := readAt(r.r, tail, end); err != nil {
		return err
	}
	t, err := parseTrailer(tail, head[:n])
	if err != nil {
		return damaged("%w", err)
	}
	if t.table < int64(n) || t.table > end || t.rows != (end-t.table)/rowSize || (end-t.table)%rowSize != 0 || t.entries < t.rows {
		return damaged("its trailer contradicts its size")
	}
	r.header, r.start, r.table, r.entries = h, int64(n), t.table, t.entries
	return r.loadTable(t)
}

// loadTable reads the rows in pieces: the table as bytes is as large as the rows
// themselves.
func (r *Reader) loadTable(t trailer) error {
	r.rows = make([]row, 0, t.rows) // no more than size says: checked
	sum := xxh3.New()
	piece := make([]byte, 2048*rowSize)
	for at, end := t.table, t.table+t.rows*rowSize; at < end; at += int64(len(piece)) {
		piece = piece[:min(int64(len(piece)), end-at)]
		if err := readAt(r.r, piece, at); err != nil {
			return err
		}
		sum.Write(piece) // never fails
		for i := 0; i < len(piece); i += rowSize {
			if err := r.addRow(parseRow(piece[i:])); err != nil {
				return err
			}
		}
	}
	if sum.Sum64() != t.tableSum {
		return damaged("checksum of the table differs")
	}
	return nil
}

func (r *Reader) addRow(x row) error {
	if x.offset < r.start || x.length < chunkHead+chunkTail || x.length > r.table-r.start || x.offset > r.table-x.length {
		return damaged("table: a block of %d bytes at %d cannot be", x.length, x.offset)
	}
	if n := len(r.rows); n > 0 && byHash(r.rows[n-1], x) >= 0 {
		return damaged("table is out of order")
	}
	r.rows = append(r.rows, x)
	return nil
}

// Header as NewWriter was given it.
func (r *Reader) Header() Header { return r.header }

// Len is how many entries there are.
func (r *Reader) Len() int64 { return r.entries }

// find opens the block of dir; nil if there is none.
func (r *Reader) find(dir string) (*blocks, error) {
	hash := xxh3.HashString(dir)
	i, _ := slices.BinarySearchFunc(r.rows, hash, func(x row, h uint64) int { return cmp.Compare(x.hash, h) })
	for ; i < len(r.rows) && r.rows[i].hash == hash; i++ {
		b, err := r.open(r.rows[i])
		if err != nil {
			return nil, r.wrap(err)
		}
		if b.dir == dir { // else two paths share a hash
			return b, nil
		}
	}
	return nil, nil
}

// open starts reading a block, so far that its dir is known.
func (r *Reader) open(x row) (*blocks, error) {
	b := &blocks{one: true, in: chunks{r: r.r, next: x.offset, end: x.offset + x.length, ahead: aheadDir}}
	if err := b.readChunk(); err != nil {
		return nil, err
	}
	return b, nil
}

// All yields everything in the idx's order. An error is the last it yields.
func (r *Reader) All() iter.Seq2[Located, error] {
	return func(yield func(Located, error) bool) {
		s := r.stream()
		for {
			l, err := s.next()
			if err == io.EOF || !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// stream is All as a cursor.
type stream struct {
	r       *Reader
	b       blocks
	entries int64
}

func (r *Reader) stream() *stream {
	return &stream{r: r, b: blocks{in: chunks{r: r.r, next: r.start, end: r.table, ahead: aheadAll}}}
}

// next returns io.EOF, bare, after the last entry.
func (s *stream) next() (Located, error) {
	err := s.b.next()
	whole := s.entries == s.r.entries && s.b.seen == len(s.r.rows)
	switch {
	case err == nil:
		s.entries++
		return Located{s.b.dir, s.b.e}, nil
	case err == io.EOF && whole:
		return Located{}, io.EOF
	case err == io.EOF:
		err = damaged("%d entries in %d folders, not %d in %d as it says", s.entries, s.b.seen, s.r.entries, len(s.r.rows))
	}
	return Located{}, s.r.wrap(err)
}
