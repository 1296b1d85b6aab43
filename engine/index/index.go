// Package index holds an hour's idx: what the next run compares with. The file
// groups entries by folder, in the order of the walk, so that a folder's block
// is found by one look-up and the whole is merged as a stream: memory does not
// grow with the number of files. The package also sorts lists larger than
// memory (Sorter) and queues more actions than memory holds (Spill).
package index

import (
	"io"
	"iter"

	"github.com/hourhand/hourhand/engine/tree"
)

// How the bytes of a file were proved.
type How uint8

const (
	Unproved How = iota // never hashed or never read back: from a manifest line only, or verify none
	Source              // only hashed in flight
	Cache               // read back, but not past the cache
	Server              // read back from a network target
	Device              // read back past the cache after an acknowledged flush
	Clone               // shares blocks with an hour verified then
)

// Flags of an entry.
const (
	Racy     = 1 << iota // modified so near to its reading that stat proves nothing: compare contents at the next visit
	Unstable             // changed at every reading
	Partial              // only Path and Hash are known: made from a manifest or from intents
	Stale                // the source's file could not be read: this is an older copy
	NextToo              // NextHash holds as well: an interrupted run may have put those bytes there
)

// Stamp is the part of a stat that betrays a change.
type Stamp struct {
	MTime, CTime int64 // ns since 1970
	ID           uint64
}

// Entry is one entry of a folder.
type Entry struct {
	Name     string
	Kind     tree.Kind
	Flags    uint8
	How      How
	Size     int64
	Hash     [16]byte // XXH3-128 of a regular file
	NextHash [16]byte // with NextToo
	Source   Stamp
	Target   Stamp
	Proved   int64 // unix seconds of How
	Put      int64 // mode changes: unix seconds when it came into the hour
	Seq      int64 // mode changes: the hour's seal number then
}

// Header of an idx.
type Header struct {
	RunID    string
	Manifest [16]byte // XXH3-128 of the manifest it belongs to
}

// Reader reads an idx. It may be used from several goroutines.
type Reader struct{}

// NewReader checks header, table and their checksums, not yet the blocks. name
// is for error texts. ErrDamaged.
func NewReader(r io.ReaderAt, size int64, name string) (*Reader, error) { panic("stub") }

func (r *Reader) Header() Header { panic("stub") }

// Dir returns a folder's entries, sorted by name; ok false: no such folder in
// the idx. A block whose checksum fails is ErrDamaged.
func (r *Reader) Dir(dir string) (entries []Entry, ok bool, err error) { panic("stub") }

// All yields everything in the idx's order.
func (r *Reader) All() iter.Seq2[Located, error] { panic("stub") }

// Walk yields everything in the order of ComparePaths (a folder's entry before
// what is below it). Its memory is bound by the depth, not by the largest folder.
func (r *Reader) Walk() iter.Seq2[Located, error] { panic("stub") }

// Located is an entry with its folder.
type Located struct {
	Dir string
	Entry
}

// Path of a located entry.
func (l Located) Path() string { panic("stub") }

// Writer writes an idx in its order.
type Writer struct{}

// NewWriter starts an idx. Nothing needs to be seekable.
func NewWriter(w io.Writer, h Header) *Writer { panic("stub") }

// Add appends an entry; entries must come in the order of Key.
func (w *Writer) Add(dir string, e Entry) error { panic("stub") }

// Close writes table and trailer; it does not close the underlying file.
func (w *Writer) Close() error { panic("stub") }

// Change is a difference between the old idx and the new one.
type Change struct {
	Located
	Gone bool // the entry (a folder: only it, not what is below) is no more
}

// Changes collects changes in any order, from any goroutine, in bounded memory.
type Changes struct{}

// NewChanges spills into unlinked files in folder scratch.
func NewChanges(scratch string) *Changes { panic("stub") }

// Add records a change; of several for one path the last one counts.
func (c *Changes) Add(ch Change) error { panic("stub") }

// Len is how many were added.
func (c *Changes) Len() int64 { panic("stub") }

// Merge yields old (nil: nothing) with the changes applied, in the idx's order.
// It may be called once; nothing may be added after it.
func (c *Changes) Merge(old *Reader) iter.Seq2[Located, error] { panic("stub") }

func (c *Changes) Close() error { panic("stub") }

// Sorter sorts records by key, in bounded memory (16 MB), stable for equal keys.
type Sorter struct{}

func NewSorter(scratch string) *Sorter { panic("stub") }

// Add copies key and value. From any goroutine.
func (s *Sorter) Add(key, value []byte) error { panic("stub") }

func (s *Sorter) Len() int64 { panic("stub") }

// Sorted yields all records in order; the slices hold until the next step. It
// may be called once; nothing may be added after it.
func (s *Sorter) Sorted() iter.Seq2[[]byte, []byte] { panic("stub") }

// Err is the first error of adding or sorting.
func (s *Sorter) Err() error { panic("stub") }

func (s *Sorter) Close() error { panic("stub") }

// Spill is a first-in first-out queue of byte records: the first 64k wait in
// memory, more in an unlinked file in scratch. Put never blocks.
type Spill struct{}

func NewSpill(scratch string) *Spill { panic("stub") }

// Put appends a copy of rec. From any goroutine.
func (s *Spill) Put(rec []byte) error { panic("stub") }

// Next takes the oldest record, waiting for one; ok false: Done was called and
// all is taken, or Close. From any goroutine.
func (s *Spill) Next() (rec []byte, ok bool, err error) { panic("stub") }

// Done tells that nothing more will be put.
func (s *Spill) Done() {}

func (s *Spill) Close() error { panic("stub") }
