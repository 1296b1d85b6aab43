package manifest

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"strings"
)

// AppendIntent appends one line of HH.next to buf: `+<hash> <path>` or
// `- <path>`; a path with LF or CR as `+<hash> "<base64>` / `- "<base64>`, and so
// a path that begins with a quote.
func AppendIntent(buf []byte, l Line) []byte {
	if l.Remove {
		buf = append(buf, '-')
	} else {
		buf = append(buf, '+')
		buf = hex.AppendEncode(buf, l.Hash[:])
	}
	buf = append(buf, ' ')
	if hasBreak(l.Path) || strings.HasPrefix(l.Path, `"`) {
		buf = append(buf, '"')
		buf = base64.StdEncoding.AppendEncode(buf, []byte(l.Path))
	} else {
		buf = append(buf, l.Path...)
	}
	return append(buf, '\n')
}

// ReadIntents yields the intents of a HH.next. A torn last line (no LF), as a
// power cut leaves it, ends the list without an error. Empty lines are skipped,
// and so are those that begin with "=", marks of the engine's. Errors are as in
// Read.
func ReadIntents(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := newLineReader(r, "")
		for {
			text, err := in.next()
			if err == io.EOF || err == errTorn {
				return
			}
			if err == nil && (len(text) == 0 || text[0] == '=') {
				continue
			}
			if err != nil && err != errTooLong {
				yield(Line{}, err)
				return
			}
			var l Line
			if err == nil {
				l, err = parseIntent(string(text))
			}
			if err != nil {
				l, err = Line{}, in.bad(err)
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

func parseIntent(text string) (l Line, err error) {
	verb, path, ok := strings.Cut(text, " ")
	switch {
	case ok && verb == "-":
		l.Remove = true
	case ok && strings.HasPrefix(verb, "+"):
		if l.Hash, err = ParseHash(verb[1:]); err != nil {
			return l, err
		}
	default:
		return l, errors.New("is neither +<hash> <path> nor - <path>")
	}
	if code, quoted := strings.CutPrefix(path, `"`); quoted {
		raw, err := base64.StdEncoding.DecodeString(code)
		if err != nil {
			return l, err
		}
		path = string(raw)
	}
	l.Path = path
	return l, checkPath(path)
}
