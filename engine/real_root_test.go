//go:build root && linux

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// asUser runs a test of this binary as an ordinary user.
func asUser(t *testing.T, test string) {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != "/"; d = filepath.Dir(d) {
		os.Chmod(d, 0o755)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "engine.test")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+test+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"HOURHAND_AS_USER=1", "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+test)) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestOrdinaryUser(t *testing.T) {
	for _, test := range []string{"TestUserUnreadable", "TestUserReadOnlyTrees"} {
		t.Run(test, func(t *testing.T) { asUser(t, test) })
	}
}

func asked(t *testing.T) bool { return os.Getenv("HOURHAND_AS_USER") != "" }

// syncthing#4573: a folder without rights is not a folder that was deleted
func TestUserUnreadable(t *testing.T) {
	if !asked(t) {
		return
	}
	w := newWorld(t)
	w.write("good", "good")
	w.write("locked/inside", "inside")
	w.write("secret", "secret")
	w.write("b/goes", "goes")
	w.run(Done)
	w.later("good", "better")
	w.remove("b/goes")
	w.must(os.Chmod(filepath.Join(w.src, "locked"), 0))
	w.later("secret", "changed")
	w.must(os.Chmod(filepath.Join(w.src, "secret"), 0))
	r := w.run(Partial)
	causes := map[string]string{}
	for _, p := range r.Problems {
		causes[p.Path] = p.Cause
	}
	if len(causes) != 2 || causes["locked"] != CauseListing || causes["secret"] != CausePermission {
		t.Errorf("problems %v", r.Problems)
	}
	if w.read(w.inCopy("locked/inside")) != "inside" || w.read(w.inCopy("secret")) != "secret" || w.read(w.inCopy("good")) != "better" || w.exists(w.inCopy("b/goes")) {
		t.Errorf("the copy is %v", contents(t, w.copy()))
	}
	w.must(os.Chmod(filepath.Join(w.src, "locked"), 0o755))
	w.must(os.Chmod(filepath.Join(w.src, "secret"), 0o644))
	w.run(Done)
	w.equal()
	w.must(os.Chmod(w.src, 0))
	defer os.Chmod(w.src, 0o755)
	if _, err := Run(context.Background(), w.m, nil); !errors.Is(err, ErrNoSource) {
		t.Errorf("unreadable source: %v, want ErrNoSource", err)
	}
}

// rsync#609: what is read-only in the source must still be replaced and removed
func TestUserReadOnlyTrees(t *testing.T) {
	if !asked(t) {
		return
	}
	w := newWorld(t)
	w.many("d/objects", 5)
	lock := func(mode os.FileMode) {
		for i := range 5 {
			os.Chmod(filepath.Join(w.src, fmt.Sprintf("d/objects/f%04d", i)), 0o444)
		}
		w.must(os.Chmod(filepath.Join(w.src, "d/objects"), mode))
	}
	lock(0o555)
	w.run(Done)
	w.equal()
	lock(0o755)
	w.remove("d/objects/f0001")
	w.remove("d/objects/f0002")
	w.later("d/objects/f0002", "changed")
	w.later("d/objects/new", "new")
	lock(0o555)
	w.run(Done)
	w.equal()
	lock(0o755)
	os.Chmod(filepath.Join(w.dst, "d/objects"), 0o755)
}

// mountImage makes and mounts a file system.
func mountImage(t *testing.T, fs string, megabytes int64, dir string) {
	t.Helper()
	img := filepath.Join(t.TempDir(), fs+".img")
	f, err := os.Create(img)
	if err != nil {
		t.Fatal(err)
	}
	f.Truncate(megabytes << 20)
	f.Close()
	for _, c := range [][]string{{"mkfs." + fs, "-q", img}, {"mount", "-o", "loop", img, dir}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// nextcloud/desktop#359, timeshift#864: a full drive
func TestDriveThatRunsFull(t *testing.T) {
	w := newWorld(t)
	mountImage(t, "ext4", 48, w.dst)
	w.m.Dests[0].Hour = 1
	w.write("x", "old")
	w.many("d", 20)
	w.run(Done)
	w.later("x", "new")
	for i := range 8 {
		w.big(fmt.Sprint("big", i), 8<<20)
	}
	r := w.run(Failed)
	if !errors.Is(r.Err, ErrNoSpace) {
		t.Fatalf("error %v, want ErrNoSpace", r.Err)
	}
	for p, data := range contents(t, w.copy()) {
		if want := w.read(filepath.Join(w.src, p)); data != want && data != "old" {
			t.Errorf("%s holds %d bytes that are neither old nor new", p, len(data))
		}
	}
	w.m.Dests[0].Hour = 2
	before := describe(t, filepath.Join(w.dst, "01"))
	if r := w.run(Failed); !errors.Is(r.Err, ErrNoSpace) {
		t.Errorf("second hour: %v", r.Err)
	}
	if fmt.Sprint(before) != fmt.Sprint(describe(t, filepath.Join(w.dst, "01"))) {
		t.Error("a run that did not fit touched another hour")
	}
	w.m.Dests[0].Hour = 1
	for i := range 8 {
		w.remove(fmt.Sprint("big", i))
	}
	w.m.Yes = true
	w.run(Done)
	w.equal()
}

// backintime#418: a drive that goes while the run works, and one that is not there
func TestDriveThatIsPulled(t *testing.T) {
	w := newWorld(t)
	mountImage(t, "ext4", 64, w.dst)
	w.many("d", 30)
	w.run(Done)
	w.many("e", 200)
	var steps atomic.Int64
	w.m.hook = func(step, path string) error {
		if step == "create" && steps.Add(1) == 20 {
			w.must(unix.Unmount(w.dst, unix.MNT_DETACH))
		}
		return nil
	}
	r := w.run(Failed)
	if r.Err == nil {
		t.Error("a run onto a drive that was pulled has no error")
	}
	w.m.hook = nil
	if _, err := Run(context.Background(), w.m, nil); err != nil && !errors.Is(err, ErrNoTarget) && !errors.Is(err, ErrForeign) {
		t.Errorf("with the drive away: %v", err)
	}
}

func TestReadOnlyTarget(t *testing.T) {
	w := newWorld(t)
	mountImage(t, "ext4", 64, w.dst)
	w.write("x", "x")
	w.run(Done)
	w.must(unix.Mount("", w.dst, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	w.later("x", "changed")
	r := w.run(Failed)
	if !errors.Is(r.Err, ErrLost) || !strings.Contains(r.Err.Error(), "read-only") {
		t.Errorf("error %v, want one about a read-only target", r.Err)
	}
	if a := w.verify(Hour{}); a.Equal.Files != 1 {
		t.Errorf("a read-only copy can still be verified: %+v", a)
	}
}

// rsync#483, backuppc#538: what is mounted in the source is left out and said so
func TestMountInTheSourceIsLeftOut(t *testing.T) {
	w := newWorld(t)
	w.write("sub/below the mount", "x")
	w.write("y", "y")
	w.run(Done)
	sub := filepath.Join(w.src, "sub")
	w.must(unix.Mount("tmpfs", sub, "tmpfs", 0, ""))
	t.Cleanup(func() { unix.Unmount(sub, unix.MNT_DETACH) })
	w.must(os.WriteFile(filepath.Join(sub, "mounted"), nil, 0o644))
	r := w.run(Done)
	if r.LeftOut.Mount != 1 || !w.exists(w.inCopy("sub/below the mount")) || w.exists(w.inCopy("sub/mounted")) {
		t.Errorf("left out %+v; the copy is %v", r.LeftOut, contents(t, w.copy()))
	}
}

// duplicati#876, rclone#1537
func TestSpecialFilesAreLeftOut(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.must(unix.Mkfifo(filepath.Join(w.src, "pipe"), 0o644))
	w.must(unix.Mknod(filepath.Join(w.src, "zero"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))))
	r := w.run(Done)
	if r.LeftOut.Special != 2 || r.Copied.Files != 1 {
		t.Errorf("left out %+v, copied %+v", r.LeftOut, r.Copied)
	}
	// one that is planted at the target gives way
	w.must(unix.Mkfifo(w.inCopy("y"), 0o644))
	w.write("y", "y")
	w.run(Done)
	if w.read(w.inCopy("y")) != "y" {
		t.Error("a FIFO stands where a file belongs")
	}
}

// syncthing#2571, CVE-2026-53796: nothing is written or removed through a link
func TestLinksAtTheTargetAreNeverFollowed(t *testing.T) {
	w := newWorld(t)
	sentinel := t.TempDir()
	w.must(os.WriteFile(filepath.Join(sentinel, "precious"), []byte("precious"), 0o644))
	before := describe(t, sentinel)
	w.m.Dests[0].Hour = 5
	w.many("d", 5)
	w.run(Done)
	w.must(os.Rename(w.inCopy("d"), w.inCopy("d2")))
	w.must(os.Symlink(sentinel, w.inCopy("d")))
	w.later("d/f0001", "changed")
	w.run(Done)
	w.equal()
	w.remove("d")
	w.m.Yes = true
	w.must(os.RemoveAll(w.inCopy("d")))
	w.must(os.Symlink(sentinel, w.inCopy("d")))
	w.run(Done)
	if after := describe(t, sentinel); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("the folder behind a link was touched: %v", after)
	}
}

func TestOwnersXattrsAndCapabilitiesAreKept(t *testing.T) {
	w := newWorld(t)
	w.write("x", "x")
	w.write("d/y", "y")
	x := filepath.Join(w.src, "x")
	w.must(os.Chown(x, 1234, 2345))
	w.must(os.Chmod(x, 0o4755|os.ModeSetuid))
	w.must(unix.Setxattr(x, "user.note", []byte("kept"), 0))
	w.must(unix.Setxattr(filepath.Join(w.src, "d"), "user.folder", []byte("kept too"), 0))
	w.must(os.Symlink("x", filepath.Join(w.src, "l")))
	w.must(os.Lchown(filepath.Join(w.src, "l"), 77, 88))
	w.run(Done)
	w.rsyncAgrees()
	w.must(unix.Removexattr(x, "user.note"))
	w.must(unix.Setxattr(x, "user.other", []byte("new"), 0))
	r := w.run(Done)
	if r.Updated.Files != 0 {
		t.Errorf("a changed attribute copied %d files", r.Updated.Files)
	}
	w.rsyncAgrees()
}

// rsyncAgrees lets an outsider judge.
func (w *world) rsyncAgrees() {
	w.Helper()
	out, err := exec.Command("rsync", "-anHAX", "--delete", "--checksum", "-i", "--exclude", "/.hourhand", w.src+"/", w.copy()+"/").CombinedOutput()
	if err != nil || len(bytes.TrimSpace(out)) > 0 {
		w.Errorf("rsync finds differences: %v\n%s", err, out)
	}
	cmd := exec.Command("xxhsum", "--quiet", "-c", filepath.Join(w.dst, own, slot(w.m.Dests[0].Hour)+".xxh128"))
	cmd.Dir = w.copy()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Errorf("xxhsum: %v\n%s", err, out)
	}
}

// the names and the depth that break others (hazards 1D)
func TestStrangeNamesAndDepth(t *testing.T) {
	w := newWorld(t)
	for _, n := range []string{"-rf", "[1080p] a.xml", "a\\b", " leading", "trailing ", "tab\t", "q\"uote", "\xff\xfe", "e\u0301", "\u00e9", "\uff01", ".hh~x", "MANIFEST", "14.xxh128", strings.Repeat("n", 255), "*", "?", "~", "#", "%2f", "\x1b[31m"} {
		w.write(n, n)
	}
	for _, n := range []string{"line\nfeed", "carriage\rreturn", "both\r\n"} {
		w.write(n, n)
	}
	deep := "deep"
	for range 60 {
		deep += "/" + strings.Repeat("d", 50)
	}
	w.write(deep+"/x", "far down")
	w.run(Done)
	w.equal()
	w.later(deep+"/x", "changed")
	w.run(Done)
	w.equal()
	w.remove("deep")
	w.m.Yes = true
	w.run(Done)
	w.equal()
}
