//go:build linux && root

package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const nobody = 65534

// asNobody runs do with the file rights of another user, on a thread of its own
// that ends with it.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		must(t, unix.Setfsgid(nobody))
		must(t, unix.Setfsuid(nobody))
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		must(t, unix.Capset(&head, &none[0]))
		do()
	}()
	<-done
}

func TestUnreadableFolderIsPermissionNotAbsence(t *testing.T) {
	d, path := openTemp(t)
	must(t, os.Chmod(path, 0o755))
	must(t, d.Mkdir("closed"))
	asNobody(t, func() {
		_, err := d.Sub("closed")
		wantError(t, err, fs.ErrPermission)
		_, err = d.Create("new")
		wantError(t, err, fs.ErrPermission)
	})
}

// Files of others may be read, though not with O_NOATIME.
func TestFilesOfOthersAreRead(t *testing.T) {
	d, path := openTemp(t)
	must(t, os.Chmod(path, 0o711))
	write(t, filepath.Join(path, "file"), "x")
	must(t, os.Chmod(filepath.Join(path, "file"), 0o644))
	must(t, d.Mkdir("folder"))
	must(t, os.Chmod(filepath.Join(path, "folder"), 0o755))
	asNobody(t, func() {
		f, _, err := d.OpenFile("file")
		must(t, err)
		f.Close()
		sub, err := d.Sub("folder")
		must(t, err)
		sub.Close()
	})
}

func TestSetFileKeepsOwnerSetuidAndCapabilities(t *testing.T) {
	for _, fileSystem := range []string{"ext4", "xfs", "btrfs"} {
		t.Run(fileSystem, func(t *testing.T) {
			d, at := mountLoop(t, fileSystem, "")
			dst, src, in := pair(t, d, func(path string) {
				must(t, os.Chown(path, 1234, 2345))
				run(t, "setcap", "cap_net_raw+ep", path)
				run(t, "setfacl", "-m", "u:77:rw,g:88:r", path)
				run(t, "setfattr", "-n", "trusted.hourhand", "-v", "1", path)
				must(t, unix.Chmod(path, 0o6775))
				must(t, os.Chtimes(path, time.Time{}, time.Unix(-1, 123_456_789)))
			})
			lost, err := SetFile(dst, src, in)
			must(t, err)
			now, err := FileInfo(dst)
			must(t, err)
			all := Caps{Owner: true, Modes: true, Grain: 1}
			if !SameMeta(in, now, all) || lost != (Lost{}) || in.Mode != 0o6775 {
				t.Errorf("got %+v, want %+v, lost %v", now, in, lost)
			}
			if same, err := SameXattrs(src, dst); err != nil || !same {
				t.Errorf("got xattrs %q, want %q (%v)", xattrsOf(t, dst), xattrsOf(t, src), err)
			}
			if got := run(t, "getcap", filepath.Join(at, "dst")); got == "" {
				t.Error("the capability is gone")
			}
			want := run(t, "getfacl", "-nc", "--absolute-names", filepath.Join(at, "src"))
			if got := run(t, "getfacl", "-nc", "--absolute-names", filepath.Join(at, "dst")); got != want {
				t.Errorf("got access list\n%s\nwant\n%s", got, want)
			}

			before := ctime(t, dst)
			_, err = SetFile(dst, src, in)
			must(t, err)
			if ctime(t, dst) != before {
				t.Error("equal metadata was written again")
			}
		})
	}
}

func ctime(t *testing.T, f *os.File) int64 {
	t.Helper()
	in, err := FileInfo(f)
	must(t, err)
	return in.CTime
}

func TestSetFolderKeepsAccessLists(t *testing.T) {
	d, at := mountLoop(t, "ext4", "")
	must(t, d.Mkdir("src"))
	run(t, "setfacl", "-m", "u:77:rwx", filepath.Join(at, "src"))
	run(t, "setfacl", "-d", "-m", "u:78:rwx", filepath.Join(at, "src"))
	run(t, "setfacl", "-d", "-m", "u:79:rwx", at) // dst inherits what it must lose
	must(t, d.Mkdir("dst"))
	src, err := d.Sub("src")
	must(t, err)
	defer src.Close()
	dst, err := d.Sub("dst")
	must(t, err)
	defer dst.Close()
	in, err := src.Info()
	must(t, err)
	lost, err := SetFolder(dst, src, in)
	must(t, err)
	want := run(t, "getfacl", "-nc", "--absolute-names", filepath.Join(at, "src"))
	if got := run(t, "getfacl", "-nc", "--absolute-names", filepath.Join(at, "dst")); got != want || lost != (Lost{}) {
		t.Errorf("lost %v, got access list\n%s\nwant\n%s", lost, got, want)
	}
}

func TestWhatRightsForbidIsLostNotAnError(t *testing.T) {
	d, path := openTemp(t)
	must(t, os.Chmod(path, 0o777))
	write(t, filepath.Join(path, "src"), "x")
	must(t, os.Chown(filepath.Join(path, "src"), 1234, 2345))
	run(t, "setcap", "cap_net_raw+ep", filepath.Join(path, "src"))
	must(t, unix.Chmod(filepath.Join(path, "src"), 0o6755))
	src, in, err := d.OpenFile("src")
	must(t, err)
	defer src.Close()
	asNobody(t, func() {
		dst, err := d.Create("dst")
		must(t, err)
		defer dst.Close()
		lost, err := SetFile(dst, src, in)
		must(t, err)
		if want := (Lost{Owner: true, Xattr: true}); lost != want {
			t.Errorf("got %+v, want %+v", lost, want)
		}
		now, err := FileInfo(dst)
		must(t, err)
		if now.Mode != 0o755 || now.MTime != in.MTime {
			t.Errorf("got mode %o: setuid must go with the owner", now.Mode)
		}
		if !SameMeta(in, now, Caps{Modes: true, Grain: 1}) {
			t.Error("what was kept does not count as the same")
		}
	})
}

func TestMetadataOfOthersIsLost(t *testing.T) {
	d, path := openTemp(t)
	must(t, os.Chmod(path, 0o711))
	dst, src, in := pair(t, d, func(string) {})
	in.Mode, in.MTime = 0o711, 1
	asNobody(t, func() {
		lost, err := SetFile(dst, src, in)
		if want := (Lost{Mode: true, Times: true}); lost != want || err != nil {
			t.Errorf("got %+v, %v, want %+v", lost, err, want)
		}
	})
}

// exFAT by FUSE holds no owner, mode, links or xattrs, and whole seconds only.
func TestSetFileOnAVolumeThatHoldsNothing(t *testing.T) {
	d := mountFUSE(t, []string{"mkfs.exfat"}, []string{"mount.exfat-fuse"})
	src, err := os.CreateTemp(t.TempDir(), "")
	must(t, err)
	defer src.Close()
	must(t, unix.Fsetxattr(int(src.Fd()), "user.a", []byte("b"), 0))
	must(t, src.Chown(1, 1))
	in, err := FileInfo(src)
	must(t, err)
	c, err := Probe(d)
	must(t, err)
	dst, err := d.Create("dst")
	must(t, err)
	defer dst.Close()
	lost, err := SetFile(dst, src, in)
	must(t, err)
	if !lost.Owner || !lost.Xattr {
		t.Errorf("got %+v, want owner and xattrs lost", lost)
	}
	now, err := FileInfo(dst)
	must(t, err)
	if !SameMeta(in, now, c) {
		t.Errorf("got %+v, want %+v by %+v", now, in, c)
	}
}
