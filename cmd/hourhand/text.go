package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// clean makes a file name safe to print on a terminal: control and format
// characters (escape sequences, line breaks, changes of writing direction) and
// bytes that are no UTF-8 become visible escapes, as Go writes them. File names
// are hostile input.
func clean(name string) string {
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, name[0])
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		name = name[size:]
	}
	return b.String()
}

// cleanLines is clean for a text of several lines, such as an error with a
// hint.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = clean(l)
	}
	return strings.Join(lines, "\n")
}

// shellQuote writes a path so that a POSIX shell reads exactly it.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+,:@%", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// size of so many bytes for a person: 20 MB, M being 10^6.
func size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// count is a number for a person: 1,234,567.
func count(n int64) string { return humanize.Comma(n) }

// plural is "1 file", "2 files".
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(n) + " " + thing + "s"
}

// span is a duration for a person, as exact as is of use.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return d.Round(time.Second).String()
	default:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
}

// when is an instant for a person: the clock time, with the date unless it is
// today's; "never" for the zero time.
func when(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}
