package manifest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
)

// Writer writes a manifest and its names file. Paths with LF or CR go to names.
type Writer struct {
	main       *bufio.Writer // into the file and sum
	names      io.Writer
	namesText  bytes.Buffer // held until Close, because sum needs main's bytes first
	sum        *xxh3.Hasher
	lines      int64
	linesNames int64
	last       string
	line       []byte
}

// NewWriter writes lines to main and, of names with a line break, JSON lines to
// names. The latter are few: they wait in memory until Close.
func NewWriter(main, names io.Writer) *Writer {
	sum := xxh3.New()
	return &Writer{main: bufio.NewWriterSize(io.MultiWriter(main, sum), 64<<10), names: names, sum: sum}
}

// Add writes one file. Paths come in the order of index.ComparePaths, each once;
// one that Read would refuse is an error, and so is any other order.
func (w *Writer) Add(path string, h Hash) error {
	if err := checkPath(path); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if w.lines+w.linesNames > 0 && index.ComparePaths(w.last, path) >= 0 {
		return fmt.Errorf("manifest: %q after %q is out of order", path, w.last)
	}
	w.last = path
	if hasBreak(path) {
		w.linesNames++
		fmt.Fprintf(&w.namesText, "{\"hash\":\"%s\",\"path\":\"%s\"}\n", h, base64.StdEncoding.EncodeToString([]byte(path)))
		return nil
	}
	w.lines++
	w.line = hex.AppendEncode(w.line[:0], h[:])
	w.line = append(w.line, "  "...)
	w.line = append(w.line, path...)
	w.line = append(w.line, '\n')
	_, err := w.main.Write(w.line)
	return err
}

// Close flushes; it closes nothing. It returns the XXH3-128 over main's bytes
// followed by names' bytes, and how many lines each has.
func (w *Writer) Close() (sum Hash, lines, names int64, err error) {
	if err := w.main.Flush(); err != nil {
		return Hash{}, 0, 0, err
	}
	if w.linesNames > 0 {
		w.sum.Write(w.namesText.Bytes()) // never fails
		if _, err := w.names.Write(w.namesText.Bytes()); err != nil {
			return Hash{}, 0, 0, err
		}
	}
	return w.sum.Sum128().Bytes(), w.lines, w.linesNames, nil
}

// Sum is the hash that Writer.Close returned for the same bytes. names is nil if
// there is no names file.
func Sum(main, names io.Reader) (Hash, error) {
	sum := xxh3.New()
	for _, r := range []io.Reader{main, names} {
		if r == nil {
			continue
		}
		if _, err := io.CopyBuffer(sum, r, make([]byte, 64<<10)); err != nil {
			return Hash{}, err
		}
	}
	return sum.Sum128().Bytes(), nil
}
