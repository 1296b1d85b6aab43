//go:build root && linux

package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hourhand/hourhand/engine"
)

// mountLoop mounts an ext4 of its own of so many MiB.
func mountLoop(t *testing.T, mib int64) string {
	t.Helper()
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "drive")
	put(t, image, "")
	if err := os.Truncate(image, mib<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, at}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
	return at
}

func TestSmallDriveIsRefusedWithNumbers(t *testing.T) {
	drive := mountLoop(t, 64)
	_, err := Run(t.Context(), Options{Dir: drive, Size: 200_000_000}, nil)
	if !errors.Is(err, engine.ErrNoSpace) {
		t.Fatalf("got %v, want %v", err, engine.ErrNoSpace)
	}
	for _, says := range []string{drive, "MB free", "160 MB", "must stay free", "--size"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(drive, placePrefix+"*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Others fill the drive while a bench works, whatever is in work.
func TestDriveThatBecomesFull(t *testing.T) {
	tool := func(ctx context.Context, j job) error { // a tool's exit code tells no cause
		if copyWith(naive)(ctx, j) != nil {
			return errors.New("exit status 1")
		}
		return nil
	}
	for step := range 5 {
		drive := mountLoop(t, 64)
		foreign := filepath.Join(drive, "foreign")
		seen := 0
		r := race{works: []work{{"photos", 1, planPhotos}}, cases: someCases(tool), notify: func(Progress) {
			if seen++; seen == step+1 {
				fillUp(t, foreign)
			}
		}}
		_, err := r.measure(t.Context(), Options{Dir: drive, Size: 4_000_000, Rounds: 1})
		if !errors.Is(err, engine.ErrNoSpace) {
			t.Errorf("step %d: got %v, want %v", step, err, engine.ErrNoSpace)
		}
		if left, _ := filepath.Glob(filepath.Join(drive, placePrefix+"*")); len(left) > 0 {
			t.Errorf("step %d: left %v", step, left)
		}
		if info, err := os.Stat(foreign); err != nil || info.Size() == 0 {
			t.Errorf("step %d: the foreign file is gone: %v", step, err)
		}
	}
}

// fillUp writes until nothing more fits.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 512; size /= 2 {
		for b := make([]byte, size); err == nil; {
			_, err = f.Write(b)
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
		err = nil
	}
}
