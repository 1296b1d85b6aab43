//go:build root && linux

package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// bind mounts a folder at a path until the test ends.
func bind(t *testing.T, folder, at string) {
	t.Helper()
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(folder, at, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
}

// bindForeign mounts a folder of somebody else, and returns a file in it.
func bindForeign(t *testing.T, at string) (precious string) {
	t.Helper()
	precious = filepath.Join(t.TempDir(), "precious")
	put(t, precious, "x")
	bind(t, filepath.Dir(precious), at)
	return precious
}

func TestSweepLeavesAPlaceWithAMountAlone(t *testing.T) {
	for _, below := range []string{"copy/mnt", "copy", "source/a/b", "more"} {
		t.Run(below, func(t *testing.T) {
			dir := t.TempDir()
			p := killed(t, dir)
			at := filepath.Join(p.path, filepath.FromSlash(below))
			precious := bindForeign(t, at)
			_, err := sweep(dir)
			if !errors.Is(err, ErrStays) || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "unmount it") {
				t.Errorf("got %v, want an error that names the mount %s and what to do", err, at)
			}
			if !exists(precious) {
				t.Error("a file on another mount was removed")
			}
			if !exists(filepath.Join(p.source(), "video.mov")) || !p.marked() {
				t.Error("part of the place was removed")
			}
		})
	}
}

func TestSweepLeavesALeftoverThatIsAMount(t *testing.T) {
	p, dir := killed(t, t.TempDir()), t.TempDir()
	bind(t, p.path, filepath.Join(dir, filepath.Base(p.path)))
	if _, err := sweep(dir); !errors.Is(err, ErrStays) {
		t.Errorf("got %v, want %v", err, ErrStays)
	}
	if !exists(filepath.Join(p.source(), "video.mov")) {
		t.Error("what is mounted was removed")
	}
}

func TestPlaceWithAMountIsRemovedOnceThatIsGone(t *testing.T) {
	dir := t.TempDir()
	p := killed(t, dir)
	at := filepath.Join(p.copy(), "mnt")
	precious := bindForeign(t, at)
	if _, err := sweep(dir); !errors.Is(err, ErrStays) {
		t.Fatalf("got %v, want %v", err, ErrStays)
	}
	if err := unix.Unmount(at, 0); err != nil {
		t.Fatal(err)
	}
	if removed, err := sweep(dir); err != nil || len(removed) != 1 || exists(p.path) {
		t.Errorf("removed %v, %v; want the place", removed, err)
	}
	if !exists(precious) {
		t.Error("a foreign file was removed")
	}
}

// Somebody mounts into the copy while a bench works: it ends, tells it once, and
// leaves all as it is.
func TestMountMadeWhileABenchWorks(t *testing.T) {
	dir, precious := t.TempDir(), ""
	r := race{works: small, cases: someCases(func(ctx context.Context, j job) error {
		precious = bindForeign(t, filepath.Join(j.to, "mnt"))
		return nil
	})}
	_, err := r.measure(t.Context(), Options{Dir: dir, Size: MinSize, Rounds: 1})
	if !errors.Is(err, ErrStays) {
		t.Fatalf("got %v, want %v", err, ErrStays)
	}
	if n := strings.Count(err.Error(), "is mounted at"); n != 1 {
		t.Errorf("told %d times: %v", n, err)
	}
	if !exists(precious) {
		t.Error("a foreign file was removed")
	}
}
