//go:build linux && root

package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mountLoop makes a file system in an image of its own and mounts it.
func mountLoop(t testing.TB, fileSystem, options string, mkfs ...string) (*Dir, string) {
	t.Helper()
	return mountImage(t, t.TempDir(), fileSystem, options, mkfs...)
}

// mountImage does so with the image in dir. The sizes are about the least that
// each mkfs takes.
func mountImage(t testing.TB, dir, fileSystem, options string, mkfs ...string) (*Dir, string) {
	t.Helper()
	size := map[string]int64{"ext4": 64 << 20, "xfs": 320 << 20, "btrfs": 128 << 20}[fileSystem]
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, size))
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
			if v.Free <= 0 || v.Total < 40<<20 || v.Free > v.Total || v.NameMax != 255 {
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
	ntfs.Grain, ntfs.FoldsCase, ntfs.Lowers, ntfs.Modes, ntfs.Owner = 100, true, true, false, false
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

func TestVolumesTellWhyDurabilityIsNotProvable(t *testing.T) {
	for _, c := range []struct{ fileSystem, options, want string }{
		{"ext4", "nobarrier", "mounted with nobarrier"},
		{"ext4", "barrier=0", "mounted with nobarrier"},
		{"btrfs", "nobarrier", "mounted with nobarrier"},
		{"xfs", "", ""},
	} {
		d, _ := mountLoop(t, c.fileSystem, c.options)
		v, err := d.Volume()
		must(t, err)
		if v.Durable != c.want {
			t.Errorf("%s mounted with %q: got %q, want %q", c.fileSystem, c.options, v.Durable, c.want)
		}
	}
	v, err := mountTmpfs(t, "1m").Volume()
	must(t, err)
	if v.FileSystem != "tmpfs" || v.Durable == "" || v.GroupSync || v.PastCache {
		t.Errorf("got %+v", v)
	}
}

func mountTmpfs(t testing.TB, size string) *Dir {
	t.Helper()
	at := t.TempDir()
	run(t, "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", at)
	t.Cleanup(func() { run(t, "umount", at) })
	d, err := Open(at)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestVolumesTellWhenTheyAreReadOnly(t *testing.T) {
	d, at := mountLoop(t, "ext4", "")
	run(t, "mount", "-o", "remount,ro", at)
	v, err := d.Volume()
	must(t, err)
	if !v.ReadOnly {
		t.Errorf("got %+v", v)
	}
}

// A mount of the same file system at a second place has its device and its
// files, and is another mount all the same.
func TestMountTellsBindMountsApart(t *testing.T) {
	d, path := openTemp(t)
	for _, name := range []string{"plain", "there", "bound"} {
		must(t, d.Mkdir(name))
	}
	bound := filepath.Join(path, "bound")
	run(t, "mount", "--bind", filepath.Join(path, "there"), bound)
	t.Cleanup(func() { run(t, "umount", bound) })
	want, err := d.Mount()
	must(t, err)
	for name, same := range map[string]bool{"plain": true, "there": true, "bound": false} {
		sub, err := d.Sub(name)
		must(t, err)
		defer sub.Close()
		got, err := sub.Mount()
		must(t, err)
		if (got == want) != same {
			t.Errorf("%s: same mount %v, want %v", name, got == want, same)
		}
	}
}

// What a driver refuses by ENOENT must not look as if the file had gone.
func TestRefusedNamesAreToldFromMissingOnes(t *testing.T) {
	d := mountFUSE(t, []string{"mkfs.exfat"}, []string{"mount.exfat-fuse"})
	_, err := d.Create("a:b")
	wantError(t, err, ErrName)
	wantError(t, d.Mkdir("a:b"), ErrName)
	f, err := d.Create("a")
	must(t, err)
	f.Close()
	wantError(t, d.Rename("a", d, "a:b"), ErrName)
	must(t, d.Rename("a", d, "A")) // by case only: the old name still answers
	if names, err := d.Names(); err != nil || !slices.Equal(names, []string{"A"}) {
		t.Errorf("got %q, %v", names, err)
	}
}

// Our own writes to a loop device show on the disk under it: that disk is the drive.
func TestDriveOfALoopDeviceIsTheDiskOfItsFile(t *testing.T) {
	below, err := Open(t.TempDir())
	must(t, err)
	defer below.Close()
	want, err := below.Drive()
	must(t, err)
	d, _ := mountLoop(t, "ext4", "")
	got, err := d.Drive()
	must(t, err)
	if len(want.Disks) == 0 || !slices.Equal(got.Disks, want.Disks) {
		t.Errorf("got disks %v, want %v", got.Disks, want.Disks)
	}
}
