package web

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	thinSpace = "\u202f" // between groups of thousands, never broken
	hardSpace = "\u00a0" // between a number and its unit
)

// visible makes hostile text harmless to look at: what would steer a terminal,
// the direction of the line or the eye, and what is no UTF-8, is shown as an
// escape. Escaping for HTML is html/template's.
func visible(s string) string {
	if !strings.ContainsFunc(s, steers) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case steers(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// steers tells what must not reach a page: control characters (Cc), formats and
// directions (Cf), line separators (Zl, Zp), private use, and invalid bytes, which
// ranging over a string yields as U+FFFD. The two joiners are letters' business
// (Persian, Devanagari, emoji) and stay.
func steers(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	if r == nonJoiner || r == joiner {
		return false
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// count writes 18404 as "18 404".
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteString(thinSpace)
		}
		b.WriteRune(d)
	}
	return b.String()
}

// plural writes "1 file", "18 404 files".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

func files(n int64) string { return plural(n, "file", "files") }

var units = []string{"B", "kB", "MB", "GB", "TB", "PB"}

// scale picks the unit of n: decimal, as drives are sold and as --limit counts.
func scale(n int64) (divisor float64, unit string) {
	divisor = 1
	for i, unit := range units {
		// 999.5 would be rounded up to 1000 of the smaller unit.
		if float64(n)/divisor < 999.5 || i == len(units)-1 {
			return divisor, unit
		}
		divisor *= 1000
	}
	return divisor, ""
}

// mantissa writes up to three digits: 4.2, 41.3, 118; whole bytes as they are.
func mantissa(n int64, divisor float64) string {
	v := float64(n) / divisor
	if divisor == 1 || v >= 99.95 {
		return strconv.FormatInt(int64(math.Round(v)), 10)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// size writes 18100000000 as "18.1 GB".
func size(n int64) string {
	divisor, unit := scale(n)
	return mantissa(n, divisor) + hardSpace + unit
}

// sizeOf writes a part of a whole in the whole's unit: "11.2 of 18.1 GB".
func sizeOf(part, whole int64) string {
	divisor, unit := scale(whole)
	return mantissa(part, divisor) + " of " + mantissa(whole, divisor) + hardSpace + unit
}

func speed(bytesPerSecond float64) string { return size(int64(bytesPerSecond)) + "/s" }

// took writes how long something lasted.
func took(d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f"+hardSpace+"s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d"+hardSpace+"s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d"+hardSpace+"min %d"+hardSpace+"s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d"+hardSpace+"h %d"+hardSpace+"min", int(d.Hours()), int(d.Minutes())%60)
}

// about writes a guess of the time left, as roughly as it is known.
func about(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "a few seconds"
	case d < 55*time.Second:
		return fmt.Sprintf("about %d"+hardSpace+"s", int(d.Round(10*time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("about %d"+hardSpace+"min", int(math.Ceil(d.Minutes()-0.1)))
	}
	return fmt.Sprintf("about %d"+hardSpace+"h %d"+hardSpace+"min", int(d.Hours()), int(d.Minutes())%60)
}

// ago writes the age of t.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural(int64(d.Minutes()), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return plural(int64(d.Hours()), "hour", "hours") + " ago"
	}
	return plural(int64(d.Hours()/24), "day", "days") + " ago"
}

// moment writes t as people say it on the day now: "13:04", "yesterday 18:02",
// "Tue 18:02", "24 Nov 18:02", "24 Nov 2024, 18:02".
func moment(now, t time.Time) string {
	t = t.In(now.Location())
	switch days := daysBetween(t, now); {
	case days == 0:
		return t.Format("15:04")
	case days == 1:
		return t.Format("yesterday 15:04")
	case days == -1:
		return t.Format("tomorrow 15:04")
	case days > 1 && days < 7:
		return t.Format("Mon 15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006, 15:04")
}

// daysBetween counts midnights, so that a day of 23 or 25 hours is one.
func daysBetween(from, to time.Time) int {
	return int(midnight(to).Sub(midnight(from)).Hours() / 24)
}

// midnight of t's calendar day, in UTC so that days are 24 hours apart.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// stamp is a time for a page: short to read, exact in its title.
type stamp struct {
	Text, ISO, Exact string
}

func stampOf(now, t time.Time) stamp {
	if t.IsZero() {
		return stamp{}
	}
	t = t.In(now.Location())
	return stamp{Text: moment(now, t), ISO: t.Format(time.RFC3339), Exact: t.Format("Monday, 2 January 2006, 15:04:05 MST")}
}

func hh(hour int) string { return fmt.Sprintf("%02d", hour) }

// Sentences are put together of parts; these mend their edges.

func capital(s string) string    { return mapFirst(s, unicode.ToUpper) }
func lowerFirst(s string) string { return mapFirst(s, unicode.ToLower) }

func mapFirst(s string, to func(rune) rune) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(to(r)) + s[n:]
}

// stopped ends a sentence, if there is one.
func stopped(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
