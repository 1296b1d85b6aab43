package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/windows"
)

func TestStreamsAreNotNames(t *testing.T) {
	d, _ := openTemp(t)
	_, err := d.Create("file:stream")
	wantError(t, err, fs.ErrInvalid)
	_, err = d.Stat(`sub\file`)
	wantError(t, err, fs.ErrInvalid)
}

func setAttributes(t *testing.T, path string, attributes uint32) {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	must(t, err)
	must(t, windows.SetFileAttributes(name, attributes))
}

func TestReadOnlyIsNoObstacle(t *testing.T) {
	d, path := openTemp(t)
	for _, name := range []string{"old", "gone"} {
		write(t, filepath.Join(path, name), "old")
		setAttributes(t, filepath.Join(path, name), windows.FILE_ATTRIBUTE_READONLY)
	}
	write(t, filepath.Join(path, "new"), "new")
	setAttributes(t, filepath.Join(path, "new"), windows.FILE_ATTRIBUTE_READONLY)
	must(t, d.Rename("new", d, "old"))
	if got, _ := os.ReadFile(filepath.Join(path, "old")); string(got) != "new" {
		t.Errorf("got %q", got)
	}
	must(t, d.Remove("gone"))
	if names, _ := d.Names(); !slices.Equal(names, []string{"old"}) {
		t.Errorf("got %q", names)
	}
}

func TestSetFileKeepsAttributes(t *testing.T) {
	const want = copied // wine sets the archive bit by itself
	d, path := openTemp(t)
	write(t, filepath.Join(path, "src"), "x")
	setAttributes(t, filepath.Join(path, "src"), want)
	src, in, err := d.OpenFile("src")
	must(t, err)
	defer src.Close()
	if in.Attr != want || in.Mode != 0o400 {
		t.Errorf("got attributes %x, mode %o of the source", in.Attr, in.Mode)
	}
	f, err := d.Create("dst")
	must(t, err)
	must(t, f.Close())
	dst, _, err := d.OpenFile("dst") // for reading only: a mended copy
	must(t, err)
	defer dst.Close()
	lost, err := SetFile(dst, src, in)
	must(t, err)
	now, err := d.Stat("dst")
	must(t, err)
	if now.Attr != want || lost != (Lost{}) || !SameMeta(in, now, Caps{Grain: 100}) {
		t.Errorf("got %+v, want %+v, lost %v", now, in, lost)
	}
}

func TestReadOnlyFilesAreSynced(t *testing.T) {
	d, path := openTemp(t)
	write(t, filepath.Join(path, "file"), "x")
	setAttributes(t, filepath.Join(path, "file"), windows.FILE_ATTRIBUTE_READONLY|windows.FILE_ATTRIBUTE_ARCHIVE)
	f, before, err := d.OpenFile("file")
	must(t, err)
	defer f.Close()
	must(t, syncFile(f))
	own, err := openToWrite(handle(f.Fd()))
	must(t, err)
	must(t, closeHandle(own))
	if now, err := FileInfo(f); err != nil || now.Attr != before.Attr || now.MTime != before.MTime {
		t.Errorf("got %+v, want %+v (%v)", now, before, err)
	}
}

func TestRenameByCaseKeepsTheFile(t *testing.T) {
	d, path := openTemp(t)
	write(t, filepath.Join(path, "name"), "x")
	must(t, d.Rename("name", d, "NAME"))
	if names, _ := d.Names(); !slices.Equal(names, []string{"NAME"}) {
		t.Errorf("got %q", names)
	}
	must(t, d.Link("NAME", d, "twin"))
	must(t, d.Rename("NAME", d, "Name"))
	if names, _ := d.Names(); !slices.Equal(names, []string{"Name", "twin"}) {
		t.Errorf("got %q of a file with two names", names)
	}
}

func TestLongPathsAreReached(t *testing.T) {
	d, _ := openTemp(t)
	name := strings.Repeat("n", 50)
	for range 10 { // 500 characters, Win32 ends at 260
		must(t, d.Mkdir(name))
		sub, err := d.Sub(name)
		must(t, err)
		defer sub.Close()
		d = sub
	}
	f, err := d.Create("deep")
	must(t, err)
	must(t, f.Close())
	if in, err := d.Stat("deep"); err != nil || in.Kind != File {
		t.Errorf("got %+v, %v", in, err)
	}
}

func TestForbiddenNamesAreRefused(t *testing.T) {
	d, _ := openTemp(t)
	for _, name := range []string{"what?", "a<b", "pipe|"} {
		_, err := d.Create(name)
		wantError(t, err, ErrName)
	}
}

// Names that Win32 would change or take for devices stay as they are.
func TestNamesAreTakenAsTheyAre(t *testing.T) {
	d, _ := openTemp(t)
	want := []string{"CON", "NUL.txt", "dot.", "space "}
	for _, name := range want {
		f, err := d.Create(name)
		must(t, err)
		must(t, f.Close())
	}
	if names, err := d.Names(); err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v", names, err)
	}
}

func TestLinkDataIsReadAsItWasMade(t *testing.T) {
	for _, target := range []string{`..\sibling`, `C:\folder\file`, `\??\D:\junction\target`, `\??\Volume{1}\`, "ünï\U0001f600"} {
		data, err := linkData(target)
		must(t, err)
		if got, err := linkTarget(data); got != target {
			t.Errorf("got %q, want %q (%v)", got, target, err)
		}
		for cut := range data { // no length makes it read beyond the end
			_, _ = linkTarget(data[:cut])
		}
	}
}

func TestTransientErrorsAreTriedAgainForTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		must(t, patiently(func() error {
			if tries++; tries < 5 {
				return windows.ERROR_SHARING_VIOLATION
			}
			return nil
		}))
		start := time.Now()
		wantError(t, patiently(func() error { return windows.ERROR_ACCESS_DENIED }), windows.ERROR_ACCESS_DENIED)
		if took := time.Since(start); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("gave up after %v", took)
		}
		start = time.Now()
		wantError(t, patiently(func() error { return windows.ERROR_DISK_FULL }), windows.ERROR_DISK_FULL)
		if took := time.Since(start); took != 0 {
			t.Errorf("a full disk was tried for %v", took)
		}
	})
}

func TestVolumeOfADrive(t *testing.T) {
	d, _ := openTemp(t)
	v, err := d.Volume()
	must(t, err)
	if v.ID == "" || v.FileSystem == "" || v.Network || v.Free <= 0 || v.Total < v.Free || v.Durable == "" {
		t.Errorf("got %+v", v)
	}
}
