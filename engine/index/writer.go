package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"
)

// Writer writes an idx in its order. One goroutine may use it. It holds 24 bytes
// a folder and one chunk in memory.
type Writer struct {
	out    *bufio.Writer
	offset int64 // in the file
	header []byte
	err    error // the first; all later calls return it

	dir     string
	started bool   // dir is valid
	block   int64  // offset of dir's block
	place   byte   // of the chunk in the making
	chunk   []byte // head and payload so far
	prev    Entry  // the last in the chunk
	name    string // the last in the folder

	rows    []row
	entries int64
}

// NewWriter starts an idx. Nothing needs to be seekable.
func NewWriter(w io.Writer, h Header) *Writer {
	x := &Writer{out: bufio.NewWriterSize(w, chunkTarget)}
	if len(h.RunID) > 255 {
		x.err = fmt.Errorf("run id of %d bytes is too long for an index", len(h.RunID))
		return x
	}
	x.header = appendHeader(nil, h)
	x.write(x.header)
	return x
}

// Add appends an entry; entries must come in the order of Key. A name or folder
// that Reader would refuse is an error, and so is any other order.
func (w *Writer) Add(dir string, e Entry) error {
	if w.err != nil {
		return w.err
	}
	if err := w.add(dir, &e); err != nil && w.err == nil {
		w.err = fmt.Errorf("write index: %w", err)
	}
	return w.err
}

func (w *Writer) add(dir string, e *Entry) error {
	if err := checkEntry(e); err != nil {
		return err
	}
	switch {
	case !w.started || dir != w.dir:
		if err := w.startBlock(dir); err != nil {
			return err
		}
	case e.Name <= w.name:
		return fmt.Errorf("%q after %q in folder %q is out of order", e.Name, w.name, dir)
	case len(w.chunk) >= chunkHead+chunkTarget:
		w.endChunk(0)
	}
	w.chunk = appendEntry(w.chunk, &w.prev, e)
	w.prev, w.name = *e, e.Name
	w.entries++
	return w.err
}

func (w *Writer) startBlock(dir string) error {
	if len(dir) > maxDir {
		return fmt.Errorf("path of %d bytes is too long", len(dir))
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	if w.started && ComparePaths(w.dir, dir) >= 0 {
		return fmt.Errorf("folder %q after %q is out of order", dir, w.dir)
	}
	w.endBlock()
	w.dir, w.started, w.block = dir, true, w.offset
	w.startChunk(firstChunk)
	w.chunk = binary.AppendUvarint(w.chunk, uint64(len(dir)))
	w.chunk = append(w.chunk, dir...)
	return nil
}

func (w *Writer) endBlock() {
	if !w.started {
		return
	}
	w.endChunk(lastChunk)
	w.rows = append(w.rows, row{hash: xxh3.HashString(w.dir), offset: w.block, length: w.offset - w.block})
}

func (w *Writer) startChunk(place byte) {
	w.place, w.prev = place, Entry{}
	w.chunk = append(w.chunk[:0], make([]byte, chunkHead)...)
}

func (w *Writer) endChunk(place byte) {
	w.place |= place
	binary.LittleEndian.PutUint32(w.chunk, uint32(len(w.chunk)-chunkHead))
	w.chunk[4] = w.place
	w.chunk = binary.LittleEndian.AppendUint64(w.chunk, chunkSum(w.chunk, w.offset))
	w.write(w.chunk)
	w.startChunk(0)
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.offset += int64(n)
	w.err = err
}

// Close writes table and trailer; it does not close the underlying file. Without
// it, or after an error of it, the bytes are no idx.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.endBlock()
	slices.SortFunc(w.rows, byHash)
	t := trailer{table: w.offset, rows: int64(len(w.rows)), entries: w.entries}
	sum := xxh3.New()
	var b []byte
	for _, r := range w.rows {
		b = appendRow(b[:0], r)
		sum.Write(b) // never fails
		w.write(b)
	}
	t.tableSum = sum.Sum64()
	w.write(appendTrailer(nil, t, w.header))
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if err := w.err; err != nil {
		return err
	}
	w.err = errClosed
	return nil
}

var errClosed = errors.New("index: used after Close")
