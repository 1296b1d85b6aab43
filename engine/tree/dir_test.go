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

// openTemp opens a new empty folder.
func openTemp(t testing.TB) (*Dir, string) {
	t.Helper()
	path := t.TempDir()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, path
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
	for i := range 5000 { // more than one getdents buffer
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
