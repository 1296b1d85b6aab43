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

// bind mounts a folder of somebody else at a path, and returns that folder's file.
func bind(t *testing.T, at string) (precious string) {
	t.Helper()
	foreign := t.TempDir()
	precious = filepath.Join(foreign, "precious")
	put(t, precious, "x")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(foreign, at, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
	return precious
}

func TestSweepLeavesAPlaceWithAMountAlone(t *testing.T) {
	for _, below := range []string{"copy/mnt", "copy", "source/a/b", "more", "."} {
		t.Run(below, func(t *testing.T) {
			dir := t.TempDir()
			p := killed(t, dir)
			at := filepath.Join(p.path, filepath.FromSlash(below))
			if below == "." { // a bind mount of a leftover that lies elsewhere
				p = killed(t, t.TempDir())
				at = filepath.Join(dir, filepath.Base(p.path))
				if err := os.Mkdir(at, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := unix.Mount(p.path, at, "", unix.MS_BIND, ""); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
			} else if precious := bind(t, at); true {
				defer func() {
					if !exists(precious) {
						t.Error("a file on another mount was removed")
					}
				}()
			}
			_, err := sweep(dir)
			if below == "." {
				// The other leftover of dir may go; this one is not in it.
				if !errors.Is(err, ErrStays) {
					t.Errorf("got %v, want %v", err, ErrStays)
				}
			} else if !errors.Is(err, ErrStays) || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "unmount") {
				t.Errorf("got %v, want an error that names the mount %s and what to do", err, at)
			}
			if !exists(filepath.Join(p.path, markName)) || !exists(filepath.Join(p.source(), "video.mov")) && below != "source" {
				t.Error("part of the place was removed")
			}
		})
	}
}

func TestPlaceWithAMountIsRemovedOnceThatIsGone(t *testing.T) {
	dir := t.TempDir()
	p := killed(t, dir)
	at := filepath.Join(p.copy(), "mnt")
	precious := bind(t, at)
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
		precious = bind(t, filepath.Join(j.to, "mnt"))
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
