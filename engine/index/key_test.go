package index

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"
)

func TestKeyOrder(t *testing.T) {
	ordered := [][2]string{
		{"", "a"}, {"", "a.b"}, {"", "b"},
		{"a", "x"}, {"a", "y"},
		{"a/\x01", "x"}, {"a/b", "x"}, {"a/b/c", "a"}, {"a/bc", "a"},
		{"a.b", "a"}, {"b", "a"}, {"\xff", "a"},
	}
	for i, low := range ordered {
		for _, high := range ordered[i+1:] {
			if bytes.Compare(Key(low[0], low[1]), Key(high[0], high[1])) >= 0 {
				t.Errorf("%q is not before %q", low, high)
			}
		}
		dir, name, err := SplitKey(Key(low[0], low[1]))
		if err != nil || dir != low[0] || name != low[1] {
			t.Errorf("%q: got back %q, %q, %v", low, dir, name, err)
		}
	}
	for _, bad := range []string{"", "a", "a\x00b", "\x00\x00", "a\x00\x00\x00b", "a/b\x00\x00c", "a\x00\x00b/c", "..\x00\x00c", "\x00\x00.."} {
		if _, _, err := SplitKey([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

// byComponents is ComparePaths as one would write it down.
func byComponents(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), cmp.Compare[string])
}

func TestComparePathsByComponent(t *testing.T) {
	ordered := []string{"", "\x01", "a", "a/\x01", "a/x", "a/x/y", "a/x.y", "a\x01", "a b", "a.b", "a.b/c", "aa", "b", "\xff"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := ComparePaths(a, b), cmp.Compare(i, j); got != want || a != "" && b != "" && byComponents(a, b) != want {
				t.Errorf("%q and %q: got %d, want %d", a, b, got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { ComparePaths("photos/2024/a.jpg", "photos/2024/b.jpg") }); n > 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

func FuzzComparePaths(f *testing.F) {
	f.Add("a/x", "a.b")
	f.Fuzz(func(t *testing.T, a, b string) {
		if checkDir(a) != nil || checkDir(b) != nil {
			return
		}
		if got, want := ComparePaths(a, b), byComponents(a, b); a != "" && b != "" && got != want {
			t.Errorf("%q and %q: got %d, want %d", a, b, got, want)
		}
		if got := ComparePaths(b, a); got != -ComparePaths(a, b) {
			t.Errorf("%q and %q: not the opposite the other way round", a, b)
		}
	})
}
