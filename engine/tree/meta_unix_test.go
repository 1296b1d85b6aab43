//go:build linux || darwin

package tree

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSetFileKeepsModes(t *testing.T) {
	d, _ := openTemp(t)
	for _, mode := range []uint32{0o400, 0o444, 0o600, 0o755, 0o777, 0o4755, 0o2750, 0o1644, 0o000} {
		dst, src, in := pair(t, d, func(path string) {})
		in.Mode = mode
		lost, err := SetFile(dst, src, in)
		must(t, err)
		now, err := FileInfo(dst)
		must(t, err)
		if now.Mode != mode || lost != (Lost{}) {
			t.Errorf("got mode %o, want %o, lost %v", now.Mode, mode, lost)
		}
		must(t, d.Remove("dst"))
	}
}

// xattrsOf tells an open file's xattrs.
func xattrsOf(t *testing.T, f *os.File) map[string]string {
	t.Helper()
	names, err := listXattrs(handle(f.Fd()))
	must(t, err)
	all := map[string]string{}
	for _, name := range names {
		value, err := readXattr(handle(f.Fd()), name)
		must(t, err)
		all[name] = string(value)
	}
	return all
}

func TestSetFileMakesXattrsEqual(t *testing.T) {
	d, _ := openTemp(t)
	if c, err := Probe(d); err != nil || !c.Xattrs {
		if os.Getenv("CI") != "" {
			t.Fatalf("no xattrs in the folder for temporary files (%v)", err)
		}
		t.Skip("no xattrs in the folder for temporary files")
	}
	dst, src, in := pair(t, d, func(string) {})
	set := func(f *os.File, name, value string) {
		t.Helper()
		must(t, unix.Fsetxattr(int(f.Fd()), name, []byte(value), 0))
	}
	set(src, "user.empty", "")
	set(src, "user.large", string(make([]byte, 1500)))
	set(src, "user.both", "source")
	set(dst, "user.both", "copy")
	set(dst, "user.extra", "goes")
	if same, err := SameXattrs(dst, src); err != nil || same {
		t.Errorf("got %v, %v before", same, err)
	}
	in.Mode = 0o444
	for range 2 { // the second time on a read-only copy
		lost, err := SetFile(dst, src, in)
		must(t, err)
		if same, err := SameXattrs(dst, src); err != nil || !same || lost != (Lost{}) {
			t.Errorf("got %v, %v, lost %v: %v", same, err, lost, xattrsOf(t, dst))
		}
		if now, _ := FileInfo(dst); now.Mode != 0o444 {
			t.Errorf("got mode %o", now.Mode)
		}
		set(src, "user.later", "added")
	}
}

func TestSetLinkKeepsTimes(t *testing.T) {
	d, path := openTemp(t)
	must(t, d.Symlink("target", "src", false))
	must(t, d.Symlink("target", "dst", false))
	write(t, path+"/target", "x")
	target, err := d.Stat("target")
	must(t, err)
	in, err := d.Stat("src")
	must(t, err)
	in.MTime = time.Date(1969, 5, 1, 0, 0, 0, 123_456_000, time.UTC).UnixNano()
	lost, err := d.SetLink("dst", in)
	must(t, err)
	now, err := d.Stat("dst")
	must(t, err)
	if now.MTime != in.MTime || lost != (Lost{}) {
		t.Errorf("got %d, want %d, lost %v", now.MTime, in.MTime, lost)
	}
	if now, _ := d.Stat("target"); now != target {
		t.Error("changed the file behind the link")
	}
	if _, err := d.SetLink("target", in); err == nil {
		t.Error("took a file for a link")
	}
}
