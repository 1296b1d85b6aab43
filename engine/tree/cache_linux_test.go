package tree

import (
	"os"
	"testing"
)

// onDisk skips where the folder for temporary files has no device under it:
// nothing of it can leave the cache.
func onDisk(t *testing.T) *Dir {
	t.Helper()
	d, _ := openTemp(t)
	v, err := d.Volume()
	must(t, err)
	if !v.PastCache {
		without(t, "a folder for temporary files on ext4, xfs or btrfs; it is on "+v.FileSystem)
	}
	return d
}

// without skips a test for what this machine lacks. CI must have it.
func without(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("CI needs " + what)
	}
	t.Skip("needs " + what)
}

func TestForgetDropsOnlyWhatAdviseFoundOutsideTheCache(t *testing.T) {
	d := onDisk(t)
	for _, hot := range []bool{true, false} {
		f, err := d.Create("file")
		must(t, err)
		_, err = f.Write(randomBytes(1 << 20))
		must(t, err)
		must(t, f.Sync())
		if !hot {
			dropPages(handle(f.Fd()))
		}
		if _, err := cachedPages(handle(f.Fd())); err != nil {
			without(t, "a kernel that tells of its cache: "+err.Error())
		}
		Advise(f)
		_, err = f.ReadAt(make([]byte, 1<<20), 0)
		must(t, err)
		Forget(f)
		if pages, err := cachedPages(handle(f.Fd())); err != nil || (pages > 0) != hot {
			t.Errorf("in the cache before %v: got %d pages, %v", hot, pages, err)
		}
		f.Close()
		must(t, d.Remove("file"))
	}
}
