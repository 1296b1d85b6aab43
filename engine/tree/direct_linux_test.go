package tree

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGoDirectLeavesFilesInTheCacheAlone(t *testing.T) {
	d := onDisk(t)
	v, err := d.Volume()
	must(t, err)
	f, err := d.Create("file")
	must(t, err)
	defer f.Close()
	_, err = f.Write(randomBytes(PieceSize))
	must(t, err)
	must(t, f.Sync())
	if GoDirect(f, v, PieceSize) {
		t.Error("a file of which all is in the cache went past it")
	}
	dropPages(handle(f.Fd()))
	if !GoDirect(f, v, PieceSize) {
		without(t, "a file system and kernel with direct I/O")
	}
	must(t, GoBuffered(f))
	if _, err := f.WriteAt([]byte("unaligned"), 3); err != nil {
		t.Error("after GoBuffered:", err)
	}
}

func TestAllocateGivesAFileItsSize(t *testing.T) {
	d := onDisk(t)
	f, err := d.Create("file")
	must(t, err)
	defer f.Close()
	must(t, Allocate(f, 3*PieceSize))
	if info, err := os.Stat(filepath.Join(d.name, "file")); err != nil || info.Size() != 3*PieceSize {
		t.Errorf("got %v, %v", info, err)
	}
}
