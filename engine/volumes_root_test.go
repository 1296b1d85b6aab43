//go:build root && linux

package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// folding mounts a file system by FUSE that takes "a" and "A" for one name.
func folding(t *testing.T, kind, dir string) {
	t.Helper()
	img := filepath.Join(t.TempDir(), "img")
	f, err := os.Create(img)
	if err != nil {
		t.Fatal(err)
	}
	f.Truncate(64 << 20)
	f.Close()
	loop, err := exec.Command("losetup", "--find", "--show", img).Output()
	if err != nil {
		t.Fatalf("losetup: %v", err)
	}
	device := strings.TrimSpace(string(loop))
	t.Cleanup(func() { exec.Command("losetup", "--detach", device).Run() })
	steps := map[string][][]string{
		"exfat": {{"mkfs.exfat", img}, {"mount.exfat-fuse", device, dir}},
		"ntfs":  {{"mkfs.ntfs", "-F", "-q", img}, {"lowntfs-3g", "-o", "windows_names,ignore_case", device, dir}},
	}[kind]
	for _, c := range steps {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// syncthing#1787, #2907: names that differ only in case, on a drive that folds
func TestDrivesThatFoldCase(t *testing.T) {
	for _, kind := range []string{"exfat", "ntfs"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			folding(t, kind, w.dst)
			w.m.Dests[0].Hour = 14
			w.write("Photo.JPG", "photo")
			w.write("d/x", "x")
			w.write("twins/a", "a")
			w.write("twins/A", "A")
			r := w.run(Partial)
			if r.ProblemCount != 1 || r.Problems[0].Cause != CauseName {
				t.Errorf("problems %v; want one about the twin", r.Problems)
			}
			w.remove("twins/a")
			w.must(os.Rename(filepath.Join(w.src, "Photo.JPG"), filepath.Join(w.src, "photo.jpg")))
			w.must(os.Rename(filepath.Join(w.src, "d"), filepath.Join(w.src, "D")))
			w.run(Done)
			got := contents(t, w.copy())
			want := map[string]string{"photo.jpg": "photo", "D/x": "x", "twins/A": "A"}
			if kind == "ntfs" { // which lists everything in lower case
				want = map[string]string{"photo.jpg": "photo", "d/x": "x", "twins/a": "A"}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("copy holds %v, want %v", got, want)
			}
			if a := w.verify(Hour{}); a.FoundCount > 0 {
				t.Errorf("verify finds %v", a.Found)
			}
			again := w.run(Done)
			if again.Copied.Files+again.Updated.Files+again.Removed.Files > 0 {
				t.Errorf("an unchanged source is copied again: %+v", again)
			}
		})
	}
}

// owncloud/client#2438: FAT moves all times when the clock does
func TestUniformShiftOfTimesCopiesNothing(t *testing.T) {
	w := newWorld(t)
	folding(t, "exfat", w.dst)
	w.many("d", 12)
	w.run(Done)
	for p := range contents(t, w.copy()) {
		info, err := os.Stat(w.inCopy(p))
		w.must(err)
		at := info.ModTime().Add(time.Hour)
		w.must(os.Chtimes(w.inCopy(p), at, at))
	}
	r := w.run(Done)
	if r.Copied.Files+r.Updated.Files > 0 || len(w.found()) > 0 {
		t.Errorf("copied %d, updated %d, put aside %v; want only times mended", r.Copied.Files, r.Updated.Files, w.found())
	}
	if r := w.run(Done); r.Changed {
		t.Error("the times were not mended")
	}
}

func TestMirrorOnEveryFileSystem(t *testing.T) {
	for _, fs := range []string{"ext4", "xfs", "btrfs"} {
		t.Run(fs, func(t *testing.T) {
			w := newWorld(t)
			mountImage(t, fs, 400, w.dst)
			w.m.Dests[0].Hour = 2
			w.many("d", 100)
			w.write("tiny", "1")
			w.big("big", 5<<20)
			w.must(os.Link(filepath.Join(w.src, "big"), filepath.Join(w.src, "d/big too")))
			r := w.run(Done)
			w.rsyncAgrees()
			want := int64(103)
			if fs == "btrfs" { // small files lie in the tree, and cannot be read past the cache
				want = 1
			}
			if r.Verified.Device.Files < want-2 {
				t.Errorf("verified %+v; want about %d from the device", r.Verified, want)
			}
			if again := w.run(Done); again.Changed {
				t.Errorf("an unchanged source touched the hour: %+v", again)
			}
			w.rsyncAgrees()
		})
	}
}
