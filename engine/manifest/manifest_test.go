package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

func hashOf(s string) Hash { return xxh3.Hash128([]byte(s)).Bytes() }

// write returns the two files of a manifest of paths, each with the hash of its path.
func write(t testing.TB, paths ...string) (main, names string, sum Hash) {
	t.Helper()
	var m, n bytes.Buffer
	w := NewWriter(&m, &n)
	for _, p := range paths {
		if err := w.Add(p, hashOf(p)); err != nil {
			t.Fatal(err)
		}
	}
	sum, lines, namesLines, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lines, int64(strings.Count(m.String(), "\n")); got != want {
		t.Errorf("got %d lines, want %d", got, want)
	}
	if got, want := namesLines, int64(strings.Count(n.String(), "\n")); got != want {
		t.Errorf("got %d names, want %d", got, want)
	}
	return m.String(), n.String(), sum
}

// paths collects what lines yields: paths, and "!" and the text for errors.
func paths(lines iter.Seq2[Line, error]) (got []string) {
	for l, err := range lines {
		if err != nil {
			got = append(got, "!"+err.Error())
			continue
		}
		got = append(got, l.Path)
	}
	return got
}

// The values are what xxhsum -H128 0.8.1 prints.
func TestHashIsWrittenAsXxhsumDoes(t *testing.T) {
	for text, want := range map[string]string{
		"":      "99aa06d3014798d86001c324468d497f",
		"hello": "b5e9c1ad071b3e7fc779cfaa5e523818",
	} {
		h := hashOf(text)
		if h.String() != want {
			t.Errorf("hash of %q: got %v, want %v", text, h, want)
		}
		if back, err := ParseHash(want); err != nil || back != h {
			t.Errorf("parse %q: got %v, %v", want, back, err)
		}
	}
	for _, s := range []string{"", "99aa06d3014798d8", strings.Repeat("g", 32), strings.Repeat("a", 33)} {
		if _, err := ParseHash(s); err == nil {
			t.Errorf("%q is taken for a hash", s)
		}
	}
}

func TestManifestKeepsEveryName(t *testing.T) {
	want := []string{" lead", "\" q", "#", "-x", "a", "a/\n", "a/b\rc", "a/x", "a.b", "a\\b", "c\nd", "e  f ", "\xfe", "\xff"}
	main, names, sum := write(t, want...)
	if got := paths(Read(strings.NewReader(main), strings.NewReader(names))); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if strings.Contains(main, "\r") || strings.Count(names, "\n") != 3 {
		t.Errorf("line breaks in names are in the wrong file:\n%s\n%s", main, names)
	}
	if want := hashOf(main + names); sum != want {
		t.Errorf("got sum %v, want %v", sum, want)
	}
	if got, err := Sum(strings.NewReader(main), strings.NewReader(names)); err != nil || got != sum {
		t.Errorf("Sum: got %v, %v, want %v", got, err, sum)
	}
	if got, err := Sum(strings.NewReader(main), nil); err != nil || got != hashOf(main) {
		t.Errorf("Sum without names: got %v, %v", got, err)
	}
}

func TestEveryByteOfANameSurvives(t *testing.T) {
	for b := range 256 {
		p := "a" + string([]byte{byte(b)}) + "b"
		if b == 0 || checkPath(p) != nil {
			continue
		}
		main, names, _ := write(t, p)
		if got := paths(Read(strings.NewReader(main), strings.NewReader(names))); !slices.Equal(got, []string{p}) {
			t.Errorf("byte %d: got %q", b, got)
		}
		intent := AppendIntent(nil, Line{Path: p, Hash: hashOf(p)})
		if got := paths(ReadIntents(bytes.NewReader(intent))); !slices.Equal(got, []string{p}) {
			t.Errorf("byte %d in an intent: got %q", b, got)
		}
	}
}

func TestWriterRefusesWhatReadWould(t *testing.T) {
	for _, pair := range [][2]string{{"b", "a"}, {"a", "a"}, {"a.b", "a/x"}, {"a", "../x"}, {"a", ""}, {"a", "b//c"}} {
		w := NewWriter(io.Discard, io.Discard)
		if err := w.Add(pair[0], Hash{}); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(pair[1], Hash{}); err == nil {
			t.Errorf("%q after %q was written", pair[1], pair[0])
		}
	}
}

func TestHostilePathsAreRefused(t *testing.T) {
	bad := []string{"", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "a/../b", ".", "./a", "a/.", "a/./b", "a/", "a//b", "a\x00b", strings.Repeat("a", MaxPath+1)}
	for _, p := range bad {
		if checkPath(p) == nil {
			t.Errorf("%.50q is accepted", p)
		}
	}
	onWindows := []string{`a\b`, `..\x`, `C:x`, `a:stream`, `\\server\share`}
	for _, p := range onWindows {
		if checkPathOn(p, true) == nil {
			t.Errorf("%q is accepted on Windows", p)
		}
	}
	good := []string{"a", "...", "..a", "a..", ".hidden/x", "a b", "-", "\xff", "~"}
	for _, p := range good {
		if err := checkPath(p); err != nil {
			t.Errorf("%q is refused: %v", p, err)
		}
	}
}

func TestReadNamesTheBadLineAndGoesOn(t *testing.T) {
	h := hashOf("").String()
	bad := map[string]string{
		"hash":        strings.Repeat("x", 32) + "  p",
		"short":       "abc",
		"empty":       "",
		"one space":   h + " p",
		"XXH64":       h[:16] + "  p",
		"no path":     h + "  ",
		"parent":      h + "  ../p",
		"absolute":    h + "  /p",
		"crlf":        h + "  p\r",
		"order":       h + "  A",
		"twice":       h + "  a",
		"endless":     h + "  " + strings.Repeat("x", 2*maxLine),
		"binary name": h + "  p\x00",
	}
	for name, line := range bad {
		text := h + "  a\n" + line + "\n" + h + "  z\n"
		got := paths(Read(strings.NewReader(text), nil))
		if len(got) != 3 || got[0] != "a" || !strings.HasPrefix(got[1], "!line 2: unusable line: ") || got[2] != "z" {
			t.Errorf("%s: got %.100q, want a, an error of line 2, z", name, got)
		}
	}
}

func TestReadReportsBadNames(t *testing.T) {
	main, names, _ := write(t, "a", "b\n", "c")
	for _, bad := range []string{"{", `{"hash":"","path":"YQ=="}`, `{"hash":"` + hashOf("").String() + `","path":"?"}`, `{"hash":"` + hashOf("").String() + `","path":"Li4="}`} {
		got := paths(Read(strings.NewReader(main), strings.NewReader(bad+"\n"+names)))
		slices.SortStableFunc(got, strings.Compare)
		if len(got) != 4 || !strings.HasPrefix(got[0], "!names line 1: unusable line: ") {
			t.Errorf("%q: got %q, want the error and a, b, c", bad, got)
		}
	}
}

func TestCutOffManifestIsAnError(t *testing.T) {
	main, _, _ := write(t, "a", "b")
	got := paths(Read(strings.NewReader(main[:len(main)-1]), nil))
	if len(got) != 2 || got[0] != "a" || !strings.Contains(got[1], "cut off") {
		t.Errorf("got %q, want a and an error", got)
	}
}

type failing struct{ io.Reader }

var errDisk = errors.New("disk gone")

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

func TestReadErrorEndsTheReading(t *testing.T) {
	main, _, _ := write(t, "a", "b")
	for name, lines := range map[string]iter.Seq2[Line, error]{
		"manifest": Read(failing{strings.NewReader(main)}, nil),
		"intents":  ReadIntents(failing{strings.NewReader("- a\n- b\n")}),
	} {
		var got []string
		var last error
		for l, err := range lines {
			got, last = append(got, l.Path), err
		}
		if !slices.Equal(got, []string{"a", "b", ""}) || !errors.Is(last, errDisk) || errors.Is(last, ErrLine) {
			t.Errorf("%s: got %q and %v, want a, b and %v", name, got, last, errDisk)
		}
	}
}

func TestIntentsKeepOrderAndVerb(t *testing.T) {
	want := []Line{
		{Path: "z", Hash: hashOf("z")},
		{Path: "a b", Remove: true},
		{Path: "line\nbreak", Hash: hashOf("x")},
		{Path: "\"quote", Remove: true},
		{Path: "\xff\r", Remove: true},
		{Path: " lead", Hash: hashOf("y")},
	}
	var text []byte
	for _, l := range want {
		text = AppendIntent(text, l)
	}
	if n := bytes.Count(text, []byte("\n")); n != len(want) {
		t.Errorf("got %d lines, want %d", n, len(want))
	}
	var got []Line
	for l, err := range ReadIntents(bytes.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestTornIntentEndsTheListQuietly(t *testing.T) {
	text := AppendIntent(nil, Line{Path: "a", Hash: hashOf("a")})
	whole := len(text)
	text = AppendIntent(text, Line{Path: "b", Hash: hashOf("b")})
	for cut := whole; cut < len(text); cut++ {
		if got := paths(ReadIntents(bytes.NewReader(text[:cut]))); !slices.Equal(got, []string{"a"}) {
			t.Errorf("cut at %d: got %q, want a", cut, got)
		}
	}
	zeros := append(text[:whole:whole], make([]byte, 3*maxLine)...)
	if got := paths(ReadIntents(bytes.NewReader(zeros))); !slices.Equal(got, []string{"a"}) {
		t.Errorf("zeros at the end: got %d lines, want a", len(got))
	}
	mended := append(append(text[:whole+5:whole+5], '\n', '\n'), "- c\n"...)
	if got := paths(ReadIntents(bytes.NewReader(mended))); len(got) != 3 || got[0] != "a" || got[2] != "c" || got[1][0] != '!' {
		t.Errorf("after a mended tear: got %q, want a, an error, c", got)
	}
}

func FuzzRead(f *testing.F) {
	main, names, _ := write(f, "a", "a/\n", "a/x", "b")
	f.Add([]byte(main), []byte(names))
	f.Fuzz(func(t *testing.T, main, names []byte) {
		last := ""
		for l, err := range Read(bytes.NewReader(main), bytes.NewReader(names)) {
			if err != nil {
				continue
			}
			if err := checkPath(l.Path); err != nil || l.Path == last {
				t.Errorf("%q after %q came through: %v", l.Path, last, err)
			}
			last = l.Path
		}
	})
}

func FuzzManifestRoundTrip(f *testing.F) {
	f.Add("a/b")
	f.Add("-\r\n\"")
	f.Fuzz(func(t *testing.T, path string) {
		if checkPath(path) != nil {
			return
		}
		main, names, _ := write(t, path)
		if got := paths(Read(strings.NewReader(main), strings.NewReader(names))); !slices.Equal(got, []string{path}) {
			t.Errorf("got %q, want %q", got, path)
		}
		for _, l := range []Line{{Path: path, Remove: true}, {Path: path, Hash: hashOf(path)}} {
			for got, err := range ReadIntents(bytes.NewReader(AppendIntent(nil, l))) {
				if err != nil || got != l {
					t.Errorf("got %v, %v, want %v", got, err, l)
				}
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	b.ReportAllocs()
	w := NewWriter(io.Discard, io.Discard)
	for i := 0; b.Loop(); i++ {
		if err := w.Add(fmt.Sprintf("photos/2024/%09d.jpg", i), Hash{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	w := NewWriter(&text, io.Discard)
	const lines = 10_000
	for i := range lines {
		if err := w.Add(fmt.Sprintf("photos/2024/%09d.jpg", i), Hash{}); err != nil {
			b.Fatal(err)
		}
	}
	if _, _, _, err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		for _, err := range Read(bytes.NewReader(text.Bytes()), nil) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
