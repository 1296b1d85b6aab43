package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// openTemp opens a new empty folder, which our own calls empty at the end:
// t.TempDir cannot under wine, which lacks what os.RemoveAll asks for.
func openTemp(t testing.TB) (*Dir, string) {
	t.Helper()
	path, err := os.MkdirTemp("", "tree-test-")
	must(t, err)
	d, err := Open(path)
	must(t, err)
	t.Cleanup(func() {
		removeTree(t, d)
		must(t, d.Close())
		must(t, os.Remove(path))
	})
	return d, path
}

func removeTree(t testing.TB, d *Dir) {
	t.Helper()
	names, err := d.Names()
	must(t, err)
	for _, name := range names {
		if in, err := d.Stat(name); err == nil && in.Kind != Folder {
			must(t, d.Remove(name))
			continue
		}
		sub, err := d.Sub(name)
		must(t, err)
		removeTree(t, sub)
		must(t, sub.Close())
		must(t, d.Rmdir(name))
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got error %v, want %v", got, want)
	}
}

func TestNamesThatLeaveTheFolderAreRefused(t *testing.T) {
	d, path := openTemp(t)
	must(t, os.Mkdir(filepath.Join(path, "sub"), 0o700))
	write(t, filepath.Join(path, "file"), "x")
	for _, name := range []string{"", ".", "..", "sub/..", "/", "../x", "a\x00b", "sub/"} {
		_, err := d.Stat(name)
		wantError(t, err, fs.ErrInvalid)
		_, err = d.Sub(name)
		wantError(t, err, fs.ErrInvalid)
		_, _, err = d.OpenFile(name)
		wantError(t, err, fs.ErrInvalid)
		_, err = d.Create(name)
		wantError(t, err, fs.ErrInvalid)
		_, err = d.Readlink(name)
		wantError(t, err, fs.ErrInvalid)
		wantError(t, d.Mkdir(name), fs.ErrInvalid)
		wantError(t, d.Remove(name), fs.ErrInvalid)
		wantError(t, d.Rmdir(name), fs.ErrInvalid)
		wantError(t, d.Symlink("x", name, false), fs.ErrInvalid)
		wantError(t, d.Link("file", d, name), fs.ErrInvalid)
		wantError(t, d.Rename(name, d, "x"), fs.ErrInvalid)
		wantError(t, d.RenameNew("file", d, name), fs.ErrInvalid)
		_, err = d.SetLink(name, Info{})
		wantError(t, err, fs.ErrInvalid)
	}
}

func TestNamesListsEachEntryOnceAndSorted(t *testing.T) {
	d, path := openTemp(t)
	var want []string
	for i := range 2000 { // more than one getdents buffer
		want = append(want, fmt.Sprintf("%s-%d", strings.Repeat("n", 1+i%200), i))
		write(t, filepath.Join(path, want[i]), "")
	}
	slices.Sort(want)
	for range 2 { // a second listing starts over
		got, err := d.Names()
		must(t, err)
		if !slices.Equal(got, want) {
			t.Fatalf("got %d names, want %d", len(got), len(want))
		}
	}
}

func TestMissingEntriesAreNotExist(t *testing.T) {
	d, _ := openTemp(t)
	_, err := d.Stat("none")
	wantError(t, err, fs.ErrNotExist)
	_, err = d.Sub("none")
	wantError(t, err, fs.ErrNotExist)
	_, _, err = d.OpenFile("none")
	wantError(t, err, fs.ErrNotExist)
	wantError(t, d.Remove("none"), fs.ErrNotExist)
	wantError(t, d.Rename("none", d, "other"), fs.ErrNotExist)
	var named *fs.PathError
	if !errors.As(err, &named) || named.Path != "none" {
		t.Errorf("got %v, want a *fs.PathError that names the component", err)
	}
}

func TestSubEntersFoldersOnly(t *testing.T) {
	d, path := openTemp(t)
	must(t, os.Mkdir(filepath.Join(path, "folder"), 0o700))
	write(t, filepath.Join(path, "folder", "inside"), "x")
	write(t, filepath.Join(path, "file"), "x")
	sub, err := d.Sub("folder")
	must(t, err)
	defer sub.Close()
	names, err := sub.Names()
	must(t, err)
	if !slices.Equal(names, []string{"inside"}) {
		t.Errorf("got %q", names)
	}
	_, err = d.Sub("file")
	wantError(t, err, ErrNotFolder)
}

func TestOpenTellsWhatIsNoFolder(t *testing.T) {
	_, path := openTemp(t)
	write(t, filepath.Join(path, "file"), "x")
	_, err := Open(filepath.Join(path, "file"))
	wantError(t, err, ErrNotFolder)
	_, err = Open(filepath.Join(path, "none"))
	wantError(t, err, fs.ErrNotExist)
	if !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want the whole path in it", err)
	}
}

func TestCreateTakesNoName(t *testing.T) {
	d, path := openTemp(t)
	f, err := d.Create("new")
	must(t, err)
	defer f.Close()
	_, err = f.WriteString("content")
	must(t, err)
	buf := make([]byte, 7)
	if _, err := f.ReadAt(buf, 0); err != nil || string(buf) != "content" {
		t.Errorf("got %q, %v", buf, err)
	}
	_, err = d.Create("new")
	wantError(t, err, fs.ErrExist)
	if got, _ := os.ReadFile(filepath.Join(path, "new")); string(got) != "content" {
		t.Errorf("got %q after a second Create", got)
	}
}

func TestRemoveTakesNoFolder(t *testing.T) {
	d, _ := openTemp(t)
	must(t, d.Mkdir("folder"))
	if err := d.Remove("folder"); err == nil {
		t.Error("removed a folder")
	}
	f, err := d.Create("file")
	must(t, err)
	f.Close()
	if err := d.Rmdir("file"); err == nil {
		t.Error("removed a file as a folder")
	}
	must(t, d.Rmdir("folder"))
	must(t, d.Remove("file"))
	names, err := d.Names()
	must(t, err)
	if len(names) != 0 {
		t.Errorf("left %q", names)
	}
}

func TestRmdirKeepsAFullFolder(t *testing.T) {
	d, path := openTemp(t)
	must(t, os.Mkdir(filepath.Join(path, "full"), 0o700))
	write(t, filepath.Join(path, "full", "file"), "x")
	if err := d.Rmdir("full"); err == nil {
		t.Error("removed a folder that holds a file")
	}
}

func TestRenameReplacesAndRenameNewDoesNot(t *testing.T) {
	d, path := openTemp(t)
	must(t, d.Mkdir("sub"))
	sub, err := d.Sub("sub")
	must(t, err)
	defer sub.Close()
	write(t, filepath.Join(path, "a"), "new")
	write(t, filepath.Join(path, "sub", "b"), "old")
	wantError(t, d.RenameNew("a", sub, "b"), fs.ErrExist)
	must(t, d.Rename("a", sub, "b"))
	if got, _ := os.ReadFile(filepath.Join(path, "sub", "b")); string(got) != "new" {
		t.Errorf("got %q", got)
	}
	must(t, sub.RenameNew("b", d, "c"))
	names, err := d.Names()
	must(t, err)
	if !slices.Equal(names, []string{"c", "sub"}) {
		t.Errorf("got %q", names)
	}
}

func TestRenameToItselfKeepsIt(t *testing.T) {
	d, path := openTemp(t)
	write(t, filepath.Join(path, "a"), "x")
	must(t, d.Link("a", d, "twin"))
	must(t, d.Rename("a", d, "a"))
	if names, _ := d.Names(); !slices.Equal(names, []string{"a", "twin"}) {
		t.Errorf("got %q", names)
	}
}

func TestRenameOverAnotherNameOfTheFileRemovesTheOldOne(t *testing.T) {
	d, path := openTemp(t)
	must(t, d.Mkdir("sub"))
	sub, err := d.Sub("sub")
	must(t, err)
	defer sub.Close()
	for _, toName := range []string{"b", "A", "a"} { // "a": in another folder
		to := d
		if toName == "a" {
			to = sub
		}
		write(t, filepath.Join(path, "a"), "x")
		if err := d.Link("a", to, toName); errors.Is(err, fs.ErrExist) {
			continue // the volume folds case: they are one name
		} else if err != nil {
			t.Fatal(err)
		}
		must(t, d.Rename("a", to, toName))
		if _, err := d.Stat("a"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a is still there after a rename to %s", toName)
		}
		in, err := to.Stat(toName)
		must(t, err)
		if in.Nlink != 1 {
			t.Errorf("%s: got %d names, want 1", toName, in.Nlink)
		}
		must(t, to.Remove(toName))
	}
}

func TestInfoTellsFileIdentity(t *testing.T) {
	d, path := openTemp(t)
	write(t, filepath.Join(path, "a"), "12345")
	must(t, d.Link("a", d, "b"))
	a, err := d.Stat("a")
	must(t, err)
	b, err := d.Stat("b")
	must(t, err)
	if a != b || a.Kind != File || a.Size != 5 || a.Nlink != 2 || a.Ino == 0 {
		t.Errorf("got %+v and %+v", a, b)
	}
	f, opened, err := d.OpenFile("a")
	must(t, err)
	defer f.Close()
	again, err := FileInfo(f)
	must(t, err)
	if opened != a || again != a {
		t.Errorf("got %+v and %+v of the opened file, want %+v", opened, again, a)
	}
	self, err := d.Info()
	must(t, err)
	if self.Kind != Folder || self.Dev != a.Dev || self.Size != 0 {
		t.Errorf("got %+v of the folder", self)
	}
}

func TestMkdirRootMakesTheLastComponentOnly(t *testing.T) {
	_, path := openTemp(t)
	must(t, MkdirRoot(filepath.Join(path, "new")+string(filepath.Separator)))
	wantError(t, MkdirRoot(filepath.Join(path, "new")), fs.ErrExist)
	wantError(t, MkdirRoot(filepath.Join(path, "none", "new")), fs.ErrNotExist)
}

func TestAncestorsEndAtTheRoot(t *testing.T) {
	d, path := openTemp(t)
	must(t, d.Mkdir("sub"))
	above, err := Ancestors(path)
	must(t, err)
	below, err := Ancestors(filepath.Join(path, "sub"))
	must(t, err)
	if len(below) != len(above)+1 || !slices.Equal(below[1:], above) {
		t.Errorf("got %v below %v", below, above)
	}
	self, err := d.Info()
	must(t, err)
	if above[0] != [2]uint64{self.Dev, self.Ino} {
		t.Errorf("got %v first, want the folder itself", above[0])
	}
}
