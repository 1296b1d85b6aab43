package manifest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine holds a base64 path of MaxPath and what stands before it.
const maxLine = MaxPath*4/3 + 256

var (
	errTooLong = errors.New("too long")
	errTorn    = errors.New("has no line break at its end: the file is cut off")
)

// lineReader cuts a file into lines and counts them.
type lineReader struct {
	r    *bufio.Reader
	file string // before the line's number in errors: "names "
	n    int64
}

func newLineReader(r io.Reader, file string) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, maxLine), file: file}
}

// next returns a line without its end; the bytes hold until the next call.
// io.EOF after the last. errTorn and errTooLong concern this line only, and a
// long line without an end is torn.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	l.n++
	long := err == bufio.ErrBufferFull
	for err == bufio.ErrBufferFull {
		_, err = l.r.ReadSlice('\n')
	}
	switch {
	case err == io.EOF:
		return nil, errTorn
	case err != nil:
		return nil, fmt.Errorf("read %sline %d: %w", l.file, l.n, err)
	case long:
		return nil, errTooLong
	}
	return line[:len(line)-1], nil
}

// bad is the error of the present line.
func (l *lineReader) bad(err error) error {
	return fmt.Errorf("%sline %d: %w: %w", l.file, l.n, ErrLine, err)
}
