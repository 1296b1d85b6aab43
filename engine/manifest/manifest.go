// Package manifest reads and writes the lists that prove a copy: HH.xxh128
// (`<32 hex of XXH3-128>  <path>`, one line a regular file, as xxhsum -c reads
// it), HH.names for names that hold a line break, and HH.next, the intents of a
// run at work. What it reads is hostile input: every path is checked to be
// local, clean and free of NUL.
package manifest

import (
	"io"
	"iter"
)

// Hash is an XXH3-128 in the order of its hex form.
type Hash [16]byte

func (h Hash) String() string { panic("stub") }

// ParseHash reads exactly 32 hex digits.
func ParseHash(s string) (Hash, error) { panic("stub") }

// Line is one file of a manifest, or one intent.
type Line struct {
	Path   string // '/' separators, raw bytes
	Hash   Hash
	Remove bool // intent "- path"
}

// Writer writes a manifest and its names file. Paths with LF or CR go to names.
type Writer struct{}

// NewWriter writes lines to main and, of names with a line break, JSON lines to
// names.
func NewWriter(main, names io.Writer) *Writer { panic("stub") }

func (w *Writer) Add(path string, h Hash) error { panic("stub") }

// Close flushes; it closes nothing. It returns the XXH3-128 over main's bytes
// followed by names' bytes, and how many lines each has.
func (w *Writer) Close() (sum Hash, lines, names int64, err error) { panic("stub") }

// Read yields a manifest's lines in its order, those of names (nil: none) sorted
// in between by index.ComparePaths order. A line that is damaged or whose path is not
// local is an error that names its line number; reading may go on after it.
func Read(main, names io.Reader) iter.Seq2[Line, error] { panic("stub") }

// Sum is the hash that Writer.Close returned for the same bytes.
func Sum(main, names io.Reader) (Hash, error) { panic("stub") }

// AppendIntent appends one line of HH.next to buf: `+<hash> <path>` or
// `- <path>`; a path with LF or CR as `+<hash> "<base64>` / `- "<base64>`, and so
// a path that begins with a quote.
func AppendIntent(buf []byte, l Line) []byte { panic("stub") }

// ReadIntents yields the intents of a HH.next. A torn last line (no LF), as a
// power cut leaves it, ends the list without an error.
func ReadIntents(r io.Reader) iter.Seq2[Line, error] { panic("stub") }
