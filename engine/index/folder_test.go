package index

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// largeFolder is an idx with a folder of many chunks between two small ones.
func largeFolder(t *testing.T) (idx []byte, entries []Located) {
	all := []Located{file("a", "x", 1)}
	for i := range int64(5000) {
		all = append(all, file("b", fmt.Sprintf("f%06d", 2*i), i))
	}
	return build(t, append(all, file("c", "x", 2))...), all[1:]
}

func TestFolderFindsWhatTheIdxHolds(t *testing.T) {
	idx, want := largeFolder(t)
	f, err := open(t, idx).Folder("b")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.parts) < 3 {
		t.Fatalf("%d chunks; the test wants several", len(f.parts))
	}
	look := func(i int) {
		t.Helper()
		name := fmt.Sprintf("f%06d", i)
		switch e := f.Find(name); {
		case i%2 == 1 || i >= 2*len(want):
			if e != nil {
				t.Fatalf("%s was found", name)
			}
		case e == nil || *e != want[i/2].Entry:
			t.Fatalf("%s: got %v, want %v", name, e, want[i/2].Entry)
		}
	}
	for i := range 2*len(want) + 3 {
		look(i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		look(r.IntN(2*len(want) + 3))
	}
	if f.Find("a") != nil || f.Find("") != nil {
		t.Error("a name before the first was found")
	}
	n := 0
	for e := range f.All() {
		if *e != want[n].Entry {
			t.Fatalf("entry %d: got %v, want %v", n, *e, want[n].Entry)
		}
		n++
	}
	if n != len(want) || f.Err() != nil {
		t.Errorf("got %d entries and %v, want %d", n, f.Err(), len(want))
	}
}

func TestFolderThatTheIdxLacksIsNil(t *testing.T) {
	f, err := open(t, build(t, folder("", "a"), file("b", "x", 1))).Folder("a")
	if f != nil || err != nil || f.Find("x") != nil || f.Err() != nil {
		t.Errorf("got %v, %v; want nothing", f, err)
	}
	for range f.All() {
		t.Error("nothing has an entry")
	}
}

func TestFolderTellsOfDamage(t *testing.T) {
	idx, _ := largeFolder(t)
	r := open(t, bytes.Clone(idx))
	f, err := r.Folder("b")
	if err != nil {
		t.Fatal(err)
	}
	last := f.parts[len(f.parts)-1]
	idx[last.offset+100] ^= 1
	if _, err := open(t, idx).Folder("b"); !errors.Is(err, ErrDamaged) {
		t.Errorf("damage in the last chunk: got %v, want ErrDamaged", err)
	}
	f.r = open(t, idx) // what was read well before no longer is
	if e := f.Find(last.first); e != nil || !errors.Is(f.Err(), ErrDamaged) {
		t.Errorf("got %v and %v, want ErrDamaged", e, f.Err())
	}
	if f.Find("f000000") != nil {
		t.Error("after an error something was found")
	}
}
