package exclude

import (
	"strings"
	"testing"
)

// gitignoreTests are git's answers, see exclude_root_test.go, which asks it.
var gitignoreTests = []struct {
	patterns string // separated by line breaks
	path     string // a trailing slash: a folder
	out      string // the pattern that leaves it out, "" none does
}{
	{"*.tmp", "a.tmp", "*.tmp"},
	{"*.tmp", "x/y/a.tmp", "*.tmp"},
	{"*.tmp", "a.tmp.txt", ""},
	{"*.tmp", ".tmp", "*.tmp"},
	{"cache", "x/cache", "cache"},
	{"cache", "x/cache/", "cache"},
	{"cache/", "x/cache/", "cache/"},
	{"cache/", "x/cache", ""},
	{"/cache", "cache", "/cache"},
	{"/cache", "x/cache", ""},
	{"x/cache", "x/cache", "x/cache"},
	{"x/cache", "y/x/cache", ""},
	{"x/*.o", "x/a.o", "x/*.o"},
	{"x/*.o", "x/y/a.o", ""},
	{"x/*", "x/a", "x/*"},
	{"x/*b", "x/a/b", ""},
	{"/*.o", "a.o", "/*.o"},
	{"/*.o", "x/a.o", ""},
	{"**/x/y", "a/b/x/y", "**/x/y"},
	{"**/x/y", "x/y", "**/x/y"},
	{"x/**", "x/", ""},
	{"x/**", "x/a/b", "x/**"},
	{"x/**/y", "x/y", "x/**/y"},
	{"x/**/y", "x/a/b/y", "x/**/y"},
	{"x/**y", "x/a/y", ""},
	{"x/**y", "x/ay", "x/**y"},
	{"x**", "a/xyz", "x**"},
	{"*.log\n!keep.log", "keep.log", ""},
	{"*.log\n!keep.log", "lose.log", "*.log"},
	{"!keep.log\n*.log", "keep.log", "*.log"},
	{"# comment", "# comment", ""},
	{`\#a`, "#a", `\#a`},
	{`\!a`, "!a", `\!a`},
	{"a  ", "a", "a"},
	{`a\ `, "a ", `a\ `},
	{`a\\ `, `a\`, `a\\`},
	{"a\t", "a", ""},
	{" a", " a", " a"},
	{"a\r", "a", "a"},
	{"", "a", ""},
	{"/", "a/", ""},
	{"!", "!", ""},
	{"a//b", "a/b", ""},
	{"[ab]c", "bc", "[ab]c"},
	{"[!ab]c", "bc", ""},
	{"[^ab]c", "xc", "[^ab]c"},
	{"[]a]", "]", "[]a]"},
	{"[a-]", "-", "[a-]"},
	{`[\]a]`, "]", `[\]a]`},
	{"[[:digit:]]", "7", "[[:digit:]]"},
	{"[[:punct:]x]", "!", "[[:punct:]x]"},
	{"[[:punct:]x]", "a", ""},
	{"x[!a]y", "x/y", ""},
	{"x/a[+-9]", "x/a/", ""},
	{"x/a[+-9]", "x/a0", "x/a[+-9]"},
	{"{a,b}", "a", ""},
	{"{a,b}*", "{a,b}c", "{a,b}*"},
	{"a?c", "abc", "a?c"},
	{"x/a?c", "x/a/c", ""},
	{`a\*`, "a*", `a\*`},
	{`a\*`, "ab", ""},
	{"Cache", "cache", ""},
	{"a\xffb", "a\xffb", "a\xffb"},
	{"a\xff*", "a\xfeb", ""},
}

func TestOutFollowsGitignore(t *testing.T) {
	for _, tt := range gitignoreTests {
		r, err := Compile(strings.Split(tt.patterns, "\n"))
		if err != nil {
			t.Errorf("%q: %v", tt.patterns, err)
			continue
		}
		path, folder := strings.CutSuffix(tt.path, "/")
		if out, p := r.Out(path, folder); p != tt.out || out != (tt.out != "") {
			t.Errorf("%q on %q: got %v by %q, want %q", tt.patterns, tt.path, out, p, tt.out)
		}
	}
}

func TestQuestionMarkIsOneCharacter(t *testing.T) {
	r, err := Compile([]string{"?.txt", "[é]"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"é.txt", "é"} {
		if out, _ := r.Out(name, false); !out {
			t.Errorf("%q is copied, want left out", name)
		}
	}
}

func TestCaseIsFoldedWhereTheSystemDoes(t *testing.T) {
	r, err := compile([]string{"Thumbs.DB", "/TEMP/", "[A-C]X?", "[[:upper:]]_"}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"thumbs.db", "temp", "bxy", "BXY", "q_", "Q_"} {
		if out, _ := r.Out(name, true); !out {
			t.Errorf("%q is copied, want left out", name)
		}
	}
}

func TestUnreadablePatternIsQuoted(t *testing.T) {
	for _, p := range []string{"a[", "a[b", "[]", `a\`, "[b-a]", "[[:nope:]]", "[/]", "a\xff?b", "!x/[", `[\`} {
		_, err := Compile([]string{"fine", p})
		if err == nil || !strings.Contains(err.Error(), p) && !strings.Contains(err.Error(), `\`) {
			t.Errorf("%q: got error %v, want one that quotes it", p, err)
		}
	}
}

func TestDefaultsLeaveOutWhatSystemsKeep(t *testing.T) {
	r, err := Compile(Defaults)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{"$RECYCLE.BIN/", "Documents/$RECYCLE.BIN/", "System Volume Information/", "pagefile.sys", "lost+found/", ".Trash-1000/", ".fseventsd/"}
	kept := []string{"lost+found", "projects/lost+found/", "projects/pagefile.sys", "Photos/", ".Trash-1000", ".git/", "~$report.docx"}
	check := func(paths []string, want bool) {
		for _, p := range paths {
			path, folder := strings.CutSuffix(p, "/")
			if got, _ := r.Out(path, folder); got != want {
				t.Errorf("%q left out: got %v, want %v", p, got, want)
			}
		}
	}
	check(out, true)
	check(kept, false)
}

func TestZeroRulesLeaveNothingOut(t *testing.T) {
	if out, p := new(Rules).Out("a/b", false); out || p != "" {
		t.Errorf("got %v by %q, want nothing left out", out, p)
	}
}

func FuzzCompileAndOut(f *testing.F) {
	f.Add("**/[!a-]*{b}\\ /", "a/b")
	f.Add("[[:alpha:]-z]", "-")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		r, err := Compile([]string{pattern})
		if err != nil {
			return
		}
		r.Out(path, true)
		if out, by := r.Out(path, false); out && !strings.HasPrefix(pattern, by) {
			t.Errorf("got pattern %q, want %q", by, pattern)
		}
	})
}

func BenchmarkOut(b *testing.B) {
	lists := map[string][]string{
		"defaults": Defaults,
		"globs":    append([]string{"**/node_modules/**/*.map", "build/*/[a-z]?.o", "*~", "?cache*"}, Defaults...),
	}
	for name, patterns := range lists {
		r, err := Compile(patterns)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Out("photos/2024/holiday in the hills/IMG_20240612_101112.jpg", false)
			}
		})
	}
}
