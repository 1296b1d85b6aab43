package index

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// listed makes a list of names that come in batches of three.
func listed(t *testing.T, limit int, names []string) *Names {
	t.Helper()
	x, err := ListNames(t.TempDir(), limit, func(take func([]string) error) error {
		for some := range slices.Chunk(names, 3) {
			if err := take(slices.Clone(some)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func TestNamesAreSortedAndFound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, limit := range []int{0, 7, math.MaxInt} {
		for range 60 {
			var names []string
			for range r.IntN(40) {
				names = append(names, []string{fmt.Sprint(r.IntN(60)), "\xff", "a b\n"}[min(2, r.IntN(20)/9)])
			}
			want := slices.Compact(slices.Sorted(slices.Values(names)))
			x := listed(t, limit, names)
			var got []string
			for at, n := range x.All() {
				if at != len(got) {
					t.Fatalf("got place %d, want %d", at, len(got))
				}
				got = append(got, n)
			}
			if !slices.Equal(got, want) || x.Len() != len(want) {
				t.Fatalf("limit %d: got %q (%d), want %q", limit, got, x.Len(), want)
			}
			for range 200 {
				name := fmt.Sprint(r.IntN(70))
				at, ok := slices.BinarySearch(want, name)
				if gotAt, gotOK := x.Find(name); gotOK != ok || ok && gotAt != at {
					t.Fatalf("limit %d: %q in %q: got %d, %v", limit, name, want, gotAt, gotOK)
				}
			}
			for at, name := range want { // in order, as a folder is compared
				if got, ok := x.Find(name); !ok || got != at {
					t.Fatalf("limit %d: %q in %q: got %d, %v", limit, name, want, got, ok)
				}
			}
		}
	}
}

func TestListThatFailsIsNoList(t *testing.T) {
	broken := errors.New("broken")
	for _, limit := range []int{0, math.MaxInt} {
		x, err := ListNames(t.TempDir(), limit, func(take func([]string) error) error {
			take([]string{"a", "b"})
			return broken
		})
		if x != nil || err != broken {
			t.Errorf("got %v, %v; want the listing's error", x, err)
		}
	}
	_, err := ListNames(t.TempDir()+"/missing", 0, func(take func([]string) error) error { return take([]string{"a"}) })
	if !errors.Is(err, ErrScratch) {
		t.Errorf("got %v, want ErrScratch", err)
	}
}

func TestNamesThatCannotBeReadBackAreTold(t *testing.T) {
	x := listed(t, 0, []string{"a", "b", "c"})
	if err := x.file.Truncate(3); err != nil {
		t.Fatal(err)
	}
	n := 0
	for range x.All() {
		n++
	}
	if n == 3 || !errors.Is(x.Err(), ErrScratch) {
		t.Errorf("got %d names and %v, want ErrScratch", n, x.Err())
	}
	if _, ok := x.Find("c"); ok {
		t.Error("after an error something was found")
	}
}
