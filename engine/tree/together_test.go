package tree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
)

func TestGroupReadsEachFileWhole(t *testing.T) {
	d, _ := openTemp(t)
	v, err := d.Volume()
	must(t, err)
	var g Group
	defer g.Free()
	var want [][]byte
	for i, size := range []int{0, 1, 2000, Block - 1, Block, Block + 1, 100_000} {
		f, err := d.Create(fmt.Sprint(i))
		must(t, err)
		defer f.Close()
		content := randomBytes(size)
		_, err = f.Write(content)
		must(t, err)
		must(t, f.Sync())
		_, err = GoPast(f, int64(size), v, Caps{})
		must(t, err)
		if !g.Add(f, int64(size)) {
			t.Fatalf("no room for %d bytes", size)
		}
		want = append(want, content)
	}
	must(t, g.Read(atOnce))
	for i := range want {
		got, err := g.Bytes(i)
		if err != nil || !bytes.Equal(got, want[i]) {
			t.Errorf("%d bytes: got %d, equal %v, %v", len(want[i]), len(got), bytes.Equal(got, want[i]), err)
		}
	}
}

func TestGroupTellsAFileOfAnotherSize(t *testing.T) {
	for _, told := range []int64{0, 1, 4999, 5001, 20_000} {
		f, _ := filled(t, randomBytes(5000))
		other, _ := filled(t, randomBytes(10))
		var g Group
		if !g.Add(f, told) || !g.Add(other, 10) {
			t.Fatal("no room")
		}
		must(t, g.Read(atOnce))
		if _, err := g.Bytes(0); !errors.Is(err, ErrResized) {
			t.Errorf("told %d of 5000: got %v, want ErrResized", told, err)
		}
		if _, err := g.Bytes(1); err != nil {
			t.Error("the file beside it:", err)
		}
		g.Free()
	}
}

func TestGroupTellsWhichFileCannotBeRead(t *testing.T) {
	good, _ := filled(t, randomBytes(10))
	bad, _ := filled(t, randomBytes(10))
	bad.Close()
	bad, err := os.OpenFile(bad.Name(), os.O_WRONLY, 0)
	if err != nil {
		bad, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	must(t, err)
	defer bad.Close()
	var g Group
	defer g.Free()
	g.Add(good, 10)
	g.Add(bad, 10)
	must(t, g.Read(atOnce))
	if _, err := g.Bytes(0); err != nil {
		t.Error(err)
	}
	if _, err := g.Bytes(1); err == nil {
		t.Error("a file that is open for writing only was read")
	}
}

func TestGroupIsFullAtSomePoint(t *testing.T) {
	f, _ := filled(t, nil)
	for _, size := range []int64{0, 4000, 100_000} {
		var g Group
		for g.Add(f, size) {
		}
		if g.Len() == 0 || g.Len() > Together || int64(g.Len())*size > PieceSize {
			t.Errorf("got %d files of %d bytes in a group", g.Len(), size)
		}
		g.Free()
	}
	if new(Group).Add(f, Small) {
		t.Error("a large file was taken")
	}
}
