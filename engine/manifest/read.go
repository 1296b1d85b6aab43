package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/hourhand/hourhand/engine/index"
)

// Read yields a manifest's lines in the order of index.ComparePaths, those of
// names (nil: none) in between. A line that is damaged or out of order, or whose
// path is not local, is an error with ErrLine that names its line number;
// reading may go on after it. Any other error is the last thing it yields. It
// holds one line of each file in memory.
func Read(main, names io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		sources := []*source{newSource(main, "", parseLine)}
		if names != nil {
			sources = append(sources, newSource(names, "names ", parseName))
		}
		last := ""
		for {
			s := first(sources)
			if s == nil {
				return
			}
			line, err := s.line, s.err
			if err == nil && last != "" && index.ComparePaths(last, line.Path) >= 0 {
				err = s.in.bad(fmt.Errorf("%q after %q is out of order", line.Path, last))
			}
			if err != nil {
				line = Line{}
			} else {
				last = line.Path
			}
			if !yield(line, err) || err != nil && !errors.Is(err, ErrLine) {
				return
			}
			s.advance()
		}
	}
}

// source is one of the two files with the line that is next in it.
type source struct {
	in    *lineReader
	parse func([]byte) (Line, error)
	line  Line
	err   error // of the line; io.EOF at the end
}

func newSource(r io.Reader, file string, parse func([]byte) (Line, error)) *source {
	s := &source{in: newLineReader(r, file), parse: parse}
	s.advance()
	return s
}

func (s *source) advance() {
	text, err := s.in.next()
	if err == nil {
		s.line, err = s.parse(text)
		if err != nil {
			err = s.in.bad(err)
		}
	} else if err == errTorn || err == errTooLong {
		err = s.in.bad(err)
	}
	s.err = err
}

// first is the source to take from: one with an error, else the lesser path;
// nil if all have ended.
func first(sources []*source) *source {
	var best *source
	for _, s := range sources {
		switch {
		case s.err == io.EOF:
		case s.err != nil:
			return s
		case best == nil || index.ComparePaths(s.line.Path, best.line.Path) < 0:
			best = s
		}
	}
	return best
}

// parseLine reads `<hash>  <path>`.
func parseLine(text []byte) (Line, error) {
	if len(text) < hashDigits+2 || string(text[hashDigits:hashDigits+2]) != "  " {
		return Line{}, errors.New("is not <32 hex digits>, two spaces, a path")
	}
	h, err := parseHash(text[:hashDigits])
	if err != nil {
		return Line{}, err
	}
	path := text[hashDigits+2:]
	if bytes.IndexByte(path, '\r') >= 0 {
		return Line{}, errors.New("holds a carriage return: was the file edited?")
	}
	l := Line{Path: string(path), Hash: h}
	return l, checkPath(l.Path)
}

// parseName reads {"hash":"<hex>","path":"<base64>"}.
func parseName(text []byte) (Line, error) {
	var raw struct {
		Hash string
		Path []byte // json's form of bytes is base64
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return Line{}, err
	}
	h, err := ParseHash(raw.Hash)
	if err != nil {
		return Line{}, err
	}
	l := Line{Path: string(raw.Path), Hash: h}
	return l, checkPath(l.Path)
}
