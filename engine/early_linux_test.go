package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hourhand/hourhand/engine/tree"
)

// cold drops a source's files from the cache, where they can leave it.
func (w *world) cold() {
	w.Helper()
	root, err := tree.Open(w.src)
	w.must(err)
	defer root.Close()
	v, err := root.Volume()
	w.must(err)
	if !v.PastCache {
		if os.Getenv("CI") != "" {
			w.Fatalf("the folder for temporary files is on %s; CI needs ext4, xfs or btrfs", v.FileSystem)
		}
		w.Skipf("the folder for temporary files is on %s", v.FileSystem)
	}
	w.must(filepath.WalkDir(w.src, func(p string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err != nil {
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	}))
}

func TestColdSmallFilesAreReadTogether(t *testing.T) {
	w := newWorld(t)
	w.many("a", 200)
	w.cold()
	var together atomic.Int64
	w.m.hook = func(step, _ string) error {
		if step == "read together" {
			together.Add(1)
		}
		return nil
	}
	w.run(Done)
	w.equal()
	if n := together.Load(); n == 0 {
		t.Error("each of 200 cold files was read alone")
	}
}

// The bytes that were read with others are of before the copy begins: a change in
// between must show, also one that keeps size and mtime.
func TestFileThatChangesAfterItWasReadWithOthersIsReadAnew(t *testing.T) {
	w := newWorld(t)
	w.many("a", 40)
	w.cold()
	w.m.Workers = 1
	var changed sync.Map
	w.m.hook = func(step, path string) error {
		if step != "create" {
			return nil
		}
		if _, again := changed.LoadOrStore(path, true); !again {
			p := filepath.Join(w.src, path)
			return os.WriteFile(p, []byte(strings.ToUpper(w.read(p))), 0o644)
		}
		return nil
	}
	w.run(Done)
	w.equal()
	if got := w.read(w.inCopy("a/f0000")); got != "A 0" {
		t.Errorf("copy holds %q, the source had become A 0", got)
	}
}

func TestFilesThatCannotBeReadTogetherAreReadAlone(t *testing.T) {
	w := newWorld(t)
	w.many("a", 60)
	w.cold()
	var failed atomic.Bool
	w.m.hook = func(step, _ string) error {
		if step == "read together" && failed.CompareAndSwap(false, true) {
			return syscall.EIO
		}
		return nil
	}
	w.run(Done)
	w.equal()
}

func TestFileThatCannotBeReadIsNamedAmongThoseReadTogether(t *testing.T) {
	w := newWorld(t)
	w.many("a", 60)
	w.cold()
	w.m.hook = func(step, path string) error {
		if step == "read" && path == "a/f0020" {
			return syscall.EIO
		}
		return nil
	}
	r := w.run(Partial)
	if len(r.Problems) != 1 || r.Problems[0].Path != "a/f0020" {
		t.Errorf("got problems %v, want one with a/f0020", r.Problems)
	}
}

// A further try must not use what was opened for the first one.
func TestFurtherTryOpensAFileAnew(t *testing.T) {
	w := newWorld(t)
	w.many("a", 60)
	w.cold()
	var failed atomic.Int64
	w.m.hook = func(step, _ string) error {
		if step == "create" && failed.Add(1) <= 20 {
			return syscall.EBUSY
		}
		return nil
	}
	w.run(Done)
	w.equal()
}

// Sizes around each bound of reading and writing, cold and in the cache.
func TestFilesOfEverySizeAroundABound(t *testing.T) {
	for _, cold := range []bool{false, true} {
		w := newWorld(t)
		for _, bound := range []int{0, 512, tree.Block, tree.Small, tree.PieceSize, 2 * tree.PieceSize, ahead * tree.PieceSize} {
			for _, n := range []int{bound - 1, bound, bound + 1, bound + tree.Block} {
				if n >= 0 {
					w.write(fmt.Sprintf("d/%d", n), strings.Repeat("0123456789abcdef", n/16+1)[:n])
				}
			}
		}
		if cold {
			w.cold()
		}
		w.run(Done)
		w.equal()
		for i := range 3 { // and replaced by another size
			w.later(fmt.Sprintf("d/%d", tree.PieceSize+i-1), strings.Repeat("x", 3*tree.PieceSize+i))
		}
		if cold {
			w.cold()
		}
		w.run(Done)
		w.equal()
	}
}

// A large file is given its size before its bytes; if it turns out shorter or
// longer, the copy must have what was read.
func TestLargeFileThatChangesItsSizeWhileItIsRead(t *testing.T) {
	for _, size := range []int64{tree.PieceSize + 5, 20 * tree.PieceSize} {
		w := newWorld(t)
		w.write("large", strings.Repeat("0123456789abcdef", 10*tree.PieceSize/16))
		w.cold()
		var changed atomic.Bool
		w.m.hook = func(step, _ string) error {
			if step == "write" && changed.CompareAndSwap(false, true) {
				return os.Truncate(filepath.Join(w.src, "large"), size)
			}
			return nil
		}
		w.run(Done)
		w.equal()
	}
}
