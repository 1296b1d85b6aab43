package exclude

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// rule is one pattern.
type rule struct {
	text       string // as the user wrote it
	negated    bool   // !pattern: what it matches is not left out
	folderOnly bool   // pattern/
	wholePath  bool   // holds a slash: matched against the whole path, else against the name
	kind       kind
	operand    string
}

// kind is how a rule compares. Nearly all patterns that people write are a
// plain name or one star at an end, and those need no glob matcher.
type kind uint8

const (
	equal  kind = iota
	prefix      // operand, then anything without a slash
	suffix      // anything without a slash, then operand
	glob        // operand is a doublestar pattern
)

func (r *rule) match(s string) bool {
	switch r.kind {
	case equal:
		return s == r.operand
	case prefix:
		return strings.HasPrefix(s, r.operand) && !strings.Contains(s[len(r.operand):], "/")
	case suffix:
		return strings.HasSuffix(s, r.operand) && !strings.Contains(s[:len(s)-len(r.operand)], "/")
	default:
		return doublestar.MatchUnvalidated(r.operand, s)
	}
}

// parse reads one line; ok is false for a blank one or a comment.
func parse(line string, foldCase bool) (r rule, ok bool, err error) {
	p := trimSpaces(strings.TrimSuffix(line, "\r"))
	if p == "" || p[0] == '#' {
		return rule{}, false, nil
	}
	r.text = p
	p, r.negated = strings.CutPrefix(p, "!")
	p, r.folderOnly = strings.CutSuffix(p, "/")
	if p == "" { // "/" and "!": git lets them match nothing
		return rule{}, false, nil
	}
	r.wholePath = strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	r.kind, r.operand, err = translate(p, r.wholePath)
	if foldCase {
		r.operand = strings.ToLower(r.operand)
	}
	return r, err == nil, err
}

// trimSpaces removes trailing spaces that no backslash quotes. Like git it leaves
// tabs alone.
func trimSpaces(s string) string {
	end := 0 // after the last byte that counts
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return s[:min(end, len(s))]
}
