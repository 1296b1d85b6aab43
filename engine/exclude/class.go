package exclude

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var (
	errBracket = errors.New(`[ without ]; write \[ for a bracket itself`)
	errRange   = errors.New("a range runs backwards")
)

// posix are the named classes in doublestar's syntax, ASCII as in git's
// wildmatch.c, without the slash.
var posix = map[string]string{
	"alnum":  "0-9A-Za-z",
	"alpha":  "A-Za-z",
	"blank":  " \t",
	"cntrl":  "\x01-\x1f\x7f",
	"digit":  "0-9",
	"graph":  `\!-.0-~`,
	"lower":  "a-z",
	"print":  " -.0-~",
	"punct":  `\!-.:-@\[-` + "`{-~",
	"space":  " \t-\r",
	"upper":  "A-Z",
	"xdigit": "0-9A-Fa-f",
}

// class is a bracket expression while it is rewritten.
type class struct {
	rest string
	out  strings.Builder
}

// classOf rewrites the class at the start of s and tells its length there.
func classOf(s string) (string, int, error) {
	c := class{rest: s[1:]}
	negated := c.rest != "" && (c.rest[0] == '!' || c.rest[0] == '^')
	if negated {
		c.rest = c.rest[1:]
	}
	for first := true; first || !strings.HasPrefix(c.rest, "]"); first = false {
		if err := c.member(); err != nil {
			return "", 0, err
		}
	}
	n := len(s) - len(c.rest) + 1
	switch {
	case negated:
		return "[!/" + c.out.String() + "]", n, nil
	case c.out.Len() == 0:
		return "", 0, fmt.Errorf("%s matches nothing", s[:n])
	default:
		return "[" + c.out.String() + "]", n, nil
	}
}

// member rewrites one character, range or named class.
func (c *class) member() error {
	if named, ok := strings.CutPrefix(c.rest, "[:"); ok {
		// As in git, [: without a :] before the next ] is two characters.
		if name, rest, ok := strings.Cut(named, "]"); ok && strings.HasSuffix(name, ":") {
			set, known := posix[name[:len(name)-1]]
			if !known {
				return fmt.Errorf("unknown character class [:%s]", name)
			}
			c.out.WriteString(set)
			c.rest = rest
			return nil
		}
	}
	low, err := c.char()
	if err != nil {
		return err
	}
	if len(c.rest) < 2 || c.rest[0] != '-' || c.rest[1] == ']' {
		c.span(low, low)
		return nil
	}
	c.rest = c.rest[1:]
	high, err := c.char()
	if err == nil && high < low {
		err = errRange
	}
	c.span(low, high)
	return err
}

// char takes a character, escaped or not.
func (c *class) char() (rune, error) {
	c.rest = strings.TrimPrefix(c.rest, `\`)
	if c.rest == "" {
		return 0, errBracket
	}
	r, n := utf8.DecodeRuneInString(c.rest)
	c.rest = c.rest[n:]
	return r, nil
}

// span writes low-high without the slash, which no class matches.
func (c *class) span(low, high rune) {
	if low <= '/' && '/' <= high {
		c.span(low, '/'-1)
		low = '/' + 1
	}
	if low > high {
		return
	}
	fmt.Fprintf(&c.out, `\%c`, low)
	if low < high {
		fmt.Fprintf(&c.out, `-\%c`, high)
	}
}
