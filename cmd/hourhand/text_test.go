package main

import (
	"os/exec"
	"testing"
	"time"
)

func TestNamesAreSafeToPrint(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"plain.txt", "plain.txt"},
		{"Málaga 日本 👍", "Málaga 日本 👍"},
		{"screen\u202fshot", "screen\u202fshot"}, // macOS writes a narrow blank before PM
		{"red\x1b[31m", `red\x1b[31m`},
		{"two\nlines\r\t", `two\x0alines\x0d\x09`},
		{"\x7f\u0085", `\x7f\u0085`},
		{"exe.\u202egpj", `exe.\u202egpj`}, // right-to-left override
		{"zero\u200bwidth", `zero\u200bwidth`},
		{"line\u2028end", `line\u2028end`},
		{"\xff\xfeé", `\xff\xfeé`},
		{"\U000e0001", `\U000e0001`},
	} {
		if got := clean(c.name); got != c.want {
			t.Errorf("clean(%q): got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestShellReadsTheQuotedPathBack(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Log("no sh on this machine: only the quoting of plain paths is compared")
	}
	for _, path := range []string{
		"/plain/path-1.2_3", "/with blank", "/it's", `/back\slash "quoted"`, "/dollar $HOME `id`", "/two\nlines", "", "/*?[a]", "~", "/été",
	} {
		quoted := shellQuote(path)
		if path == "/plain/path-1.2_3" && quoted != path {
			t.Errorf("shellQuote(%q): got %q, want it as it is", path, quoted)
		}
		if sh == "" {
			continue
		}
		out, err := exec.Command(sh, "-c", "printf %s "+quoted).Output()
		if err != nil || string(out) != path {
			t.Errorf("sh reads %s: got %q, %v, want %q", quoted, out, err, path)
		}
	}
}

func TestTimesForPeople(t *testing.T) {
	now := time.Date(2026, 3, 2, 14, 5, 0, 0, time.Local)
	for _, c := range []struct {
		t    time.Time
		want string
	}{
		{time.Time{}, "never"},
		{now.Add(-time.Hour), "13:05"},
		{now.Add(-24 * time.Hour), "2026-03-01 14:05"},
	} {
		if got := when(c.t, now); got != c.want {
			t.Errorf("when(%v): got %q, want %q", c.t, got, c.want)
		}
	}
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{1234 * time.Millisecond, "1.2 s"}, {61 * time.Second, "1m1s"}, {90 * time.Minute, "1h30m"},
	} {
		if got := span(c.d); got != c.want {
			t.Errorf("span(%v): got %q, want %q", c.d, got, c.want)
		}
	}
}
