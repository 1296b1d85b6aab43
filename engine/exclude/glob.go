package exclude

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

var (
	errBackslash = errors.New(`ends in a backslash; write \\ for a backslash itself`)
	// doublestar takes all such bytes for one character: it would leave out too much.
	errNotText = errors.New("bytes that are not UTF-8 cannot be mixed with wildcards")
)

// translate turns git's glob into a comparison. The matcher, doublestar, knows
// the same wildcards but for these: git has no {a,b}; its ** counts only as a
// whole component and is * elsewhere; a/** does not match a itself; a class may
// begin with ], holds [:alpha:] and its like, and never matches a slash.
func translate(p string, wholePath bool) (kind, string, error) {
	if !strings.ContainsAny(p, `*?[\{}`) {
		return equal, p, nil
	}
	if i := strings.IndexByte(p, '*'); i >= 0 && !strings.ContainsAny(p[:i]+p[i+1:], `*?[\{}`) {
		if i == len(p)-1 {
			return prefix, p[:i], nil
		}
		if i == 0 {
			return suffix, p[1:], nil
		}
	}
	if strings.ContainsRune(p, utf8.RuneError) {
		return 0, "", errNotText
	}
	g, err := globOf(p, wholePath)
	if err == nil && !doublestar.ValidatePattern(g) {
		err = doublestar.ErrBadPattern
	}
	return glob, g, err
}

// globOf rewrites p, byte by byte where nothing differs.
func globOf(p string, wholePath bool) (string, error) {
	var out strings.Builder
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '\\':
			if i+1 == len(p) {
				return "", errBackslash
			}
			out.WriteString(p[i : i+2])
			i += 2
		case '{', '}':
			out.WriteByte('\\')
			out.WriteByte(c)
			i++
		case '*':
			n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
			out.WriteString(stars(p, i, n, wholePath))
			i += n
		case '[':
			class, n, err := classOf(p[i:])
			if err != nil {
				return "", err
			}
			out.WriteString(class)
			i += n
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String(), nil
}

// stars translates the n stars at p[i:].
func stars(p string, i, n int, wholePath bool) string {
	atStart := i == 0 || p[i-1] == '/'
	atEnd := i+n == len(p)
	switch {
	case n == 1 || !wholePath || !atStart || !atEnd && p[i+n] != '/':
		return "*"
	case atEnd && i > 0:
		return "**/*" // a/** is what lies below a, not a
	default:
		return "**"
	}
}
