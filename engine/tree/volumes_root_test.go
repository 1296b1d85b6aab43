//go:build linux && root

package tree

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mountLoop makes a file system in an image of its own and mounts it.
func mountLoop(t testing.TB, fileSystem, options string, mkfs ...string) (*Dir, string) {
	t.Helper()
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, 400<<20))
	must(t, os.Mkdir(at, 0o700))
	run(t, append(append([]string{"mkfs." + fileSystem, "-q"}, mkfs...), image)...)
	run(t, "mount", "-o", strings.TrimSuffix("loop,"+options, ","), image, at)
	t.Cleanup(func() { run(t, "umount", at) })
	d, err := Open(at)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d, at
}

// mountFUSE mounts an image by a driver in user space.
func mountFUSE(t testing.TB, mkfs, mount []string) *Dir {
	t.Helper()
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, 64<<20))
	must(t, os.Mkdir(at, 0o700))
	run(t, append(mkfs, image)...)
	loop := run(t, "losetup", "--find", "--show", image)
	t.Cleanup(func() { run(t, "losetup", "--detach", loop) })
	run(t, append(mount, loop, at)...)
	t.Cleanup(func() { run(t, "umount", at) })
	d, err := Open(at)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func run(t testing.TB, command ...string) string {
	t.Helper()
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestVolumesTellWhatTheyAre(t *testing.T) {
	for _, fileSystem := range []string{"ext4", "xfs", "btrfs"} {
		t.Run(fileSystem, func(t *testing.T) {
			d, at := mountLoop(t, fileSystem, "")
			v, err := d.Volume()
			must(t, err)
			if want := run(t, "findmnt", "-no", "UUID", at); v.ID != want {
				t.Errorf("got id %q, want %q", v.ID, want)
			}
			if v.FileSystem != fileSystem || !v.GroupSync || !v.PastCache || !v.StableIDs || v.Network || v.ReadOnly || v.Durable != "" {
				t.Errorf("got %+v", v)
			}
			if v.Free <= 0 || v.Total < 200<<20 || v.Free > v.Total || v.NameMax != 255 {
				t.Errorf("got %+v", v)
			}
			if (v.FreeFiles == -1) != (fileSystem == "btrfs") {
				t.Errorf("got %d free files", v.FreeFiles)
			}
		})
	}
}

func TestProbeTellsWhatVolumesHold(t *testing.T) {
	all := Caps{Links: true, HardLinks: true, Owner: true, Modes: true, Xattrs: true, Grain: 1}
	inline, coarse, ntfs := all, all, all
	inline.Inline = true
	coarse.Grain = 1e9
	ntfs.Grain, ntfs.FoldsCase, ntfs.Modes, ntfs.Owner = 100, true, false, false
	exfat := Caps{Grain: 1e9, FoldsCase: true}
	for _, c := range []struct {
		name, fileSystem string
		mkfs             []string
		want             Caps
	}{
		{"ext4", "ext4", nil, all},
		{"ext4 inline", "ext4", []string{"-O", "inline_data", "-I", "256"}, inline},
		{"ext4 of old", "ext4", []string{"-I", "128"}, coarse},
		{"xfs", "xfs", nil, all},
		{"btrfs", "btrfs", nil, inline},
		{"exfat by FUSE", "", nil, exfat},
		{"ntfs that folds", "", nil, ntfs},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d *Dir
			switch c.name {
			case "exfat by FUSE":
				d = mountFUSE(t, []string{"mkfs.exfat"}, []string{"mount.exfat-fuse"})
			case "ntfs that folds":
				d = mountFUSE(t, []string{"mkfs.ntfs", "-q", "-F"}, []string{"lowntfs-3g", "-o", "ignore_case"})
			default:
				d, _ = mountLoop(t, c.fileSystem, "", c.mkfs...)
			}
			before, err := d.Names()
			must(t, err)
			got, err := Probe(d)
			must(t, err)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			after, err := d.Names()
			must(t, err)
			if len(after) != len(before) {
				t.Errorf("probe left %q, before it were %q", after, before)
			}
		})
	}
}

// changeOnDevice changes a file's bytes behind the back of the file system, as
// a bad device would.
func changeOnDevice(t *testing.T, image string, old, new []byte) {
	t.Helper()
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	content, err := os.ReadFile(image)
	must(t, err)
	at := bytes.Index(content, old)
	if at < 0 {
		t.Fatal("the bytes are not on the device")
	}
	_, err = f.WriteAt(new, int64(at))
	must(t, err)
	must(t, f.Sync())
}

func TestReadBackSeesTheDeviceNotTheCache(t *testing.T) {
	for _, c := range []struct {
		name, fileSystem, options string
		mkfs                      []string
	}{
		{"ext4", "ext4", "", nil},
		{"ext4 journalled", "ext4", "data=journal", nil},
		{"xfs", "xfs", "", nil},
	} {
		for _, size := range []int{100, 5000, pieceSize, 3*pieceSize + 17} {
			t.Run(c.name, func(t *testing.T) {
				d, at := mountLoop(t, c.fileSystem, c.options, c.mkfs...)
				v, err := d.Volume()
				must(t, err)
				content := bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
				copy(content, "the first bytes of all")
				f, err := d.Create("file")
				must(t, err)
				defer f.Close()
				_, err = f.Write(content)
				must(t, err)
				s, err := NewSyncer(d, v)
				must(t, err)
				defer s.Close()
				must(t, s.Sync(context.Background(), []*os.File{f}, []*Dir{d}))
				got, past := readBack(t, f, v, Caps{})
				if !past || !bytes.Equal(got, content) {
					t.Fatalf("past %v, equal %v", past, bytes.Equal(got, content))
				}

				if _, err := f.ReadAt(make([]byte, size), 0); err != nil { // into the cache again
					t.Fatal(err)
				}
				changed := bytes.Clone(content)
				copy(changed, "THE FIRST BYTES")
				run(t, "sync", "-f", at)
				changeOnDevice(t, filepath.Join(filepath.Dir(at), "image"), content[:22], changed[:22])
				run(t, "blockdev", "--flushbufs", run(t, "findmnt", "-no", "SOURCE", at))
				got, past = readBack(t, f, v, Caps{})
				if !past || !bytes.Equal(got, changed) {
					t.Errorf("past %v, saw the device %v", past, bytes.Equal(got, changed))
				}
			})
		}
	}
}

func readBack(t *testing.T, f *os.File, v Volume, c Caps) (got []byte, past bool) {
	t.Helper()
	asked := 0
	past, err := ReadBack(f, v, c,
		func(n int) error { asked += n; return nil },
		func(p []byte) error { got = append(got, p...); return nil })
	must(t, err)
	if asked != len(got) {
		t.Errorf("passed %d bytes, read %d", asked, len(got))
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	must(t, err)
	if flags&unix.O_DIRECT != 0 {
		t.Error("the file is left in direct mode")
	}
	return got, past
}
