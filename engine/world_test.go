package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/manifest"
	"github.com/zeebo/xxh3"
)

// world is a source and a target in a test's own folder.
type world struct {
	testing.TB
	src, dst string
	m        Mirror
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{TB: t, src: filepath.Join(dir, "source"), dst: filepath.Join(dir, "target")}
	w.mkdir(w.src)
	w.mkdir(w.dst)
	w.m = Mirror{Source: w.src, Dests: []Dest{{w.dst, OneShot}}, Scratch: t.TempDir(), RetryWait: time.Millisecond}
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) mkdir(path string) { w.Helper(); w.must(os.MkdirAll(path, 0o755)) }

// old is an mtime that no test's reading is near to.
var old = time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)

// write makes a file of the source, modified long ago.
func (w *world) write(path, data string) {
	w.Helper()
	p := filepath.Join(w.src, path)
	w.mkdir(filepath.Dir(p))
	w.must(os.WriteFile(p, []byte(data), 0o644))
	w.must(os.Chtimes(p, old, old))
}

// later rewrites a file of the source, modified a little later.
func (w *world) later(path, data string) {
	w.Helper()
	w.write(path, data)
	w.must(os.Chtimes(filepath.Join(w.src, path), old.Add(time.Hour), old.Add(time.Hour)))
}

func (w *world) remove(path string) { w.Helper(); w.must(os.RemoveAll(filepath.Join(w.src, path))) }

// many writes n small files below a folder of the source.
func (w *world) many(dir string, n int) {
	w.Helper()
	for i := range n {
		w.write(fmt.Sprintf("%s/f%04d", dir, i), fmt.Sprintf("%s %d", dir, i))
	}
}

// run runs the world's mirror and wants the outcome.
func (w *world) run(want Outcome) Report {
	w.Helper()
	reports, err := Run(context.Background(), w.m, nil)
	if len(reports) == 0 {
		w.Fatalf("no report; error %v", err)
	}
	r := reports[0]
	if r.Outcome != want {
		w.Fatalf("outcome %q (error %v, problems %v), want %q", r.Outcome, r.Err, r.Problems, want)
	}
	return r
}

// copy is the folder of the copy.
func (w *world) copy() string {
	if h := w.m.Dests[0].Hour; h != OneShot {
		return filepath.Join(w.dst, slot(h))
	}
	return w.dst
}

// equal compares source and copy by what a file system tells, without the
// engine.
func (w *world) equal() {
	w.Helper()
	want, got := describe(w, w.src), describe(w, w.copy())
	for path, a := range want {
		if b, ok := got[path]; !ok {
			w.Errorf("copy lacks %q (%s)", path, a)
		} else if a != b {
			w.Errorf("%q: copy is\n  %s, source\n  %s", path, b, a)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			w.Errorf("copy has %q, the source has not", path)
		}
	}
	w.proven()
}

// describe lists a tree: kind, mode, times, size, contents, links, names of one inode.
func describe(t testing.TB, root string) map[string]string {
	t.Helper()
	all, inodes := map[string]string{}, map[string][]string{}
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		if rel == own {
			return filepath.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%v %d", info.Mode(), info.ModTime().UnixNano())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %d %x", len(data), xxh3.Hash128(data))
			if id, n := inodeOf(info); n > 1 {
				inodes[id] = append(inodes[id], rel)
			}
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			text += " -> " + to
		}
		all[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range inodes {
		slices.Sort(names)
		for _, n := range names {
			all[n] += " = " + strings.Join(names, ", ")
		}
	}
	return all
}

// proven checks that the manifest lists exactly the copy's regular files with
// their hashes, and that nothing of an unsealed run is left.
func (w *world) proven() {
	w.Helper()
	name := filepath.Join(w.dst, own, slot(w.m.Dests[0].Hour))
	main, err := os.ReadFile(name + ".xxh128")
	w.must(err)
	names, err := os.ReadFile(name + ".names")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	listed := map[string]bool{}
	for line, err := range manifest.Read(bytes.NewReader(main), bytes.NewReader(names)) {
		w.must(err)
		listed[line.Path] = true
		data, err := os.ReadFile(filepath.Join(w.copy(), filepath.FromSlash(line.Path)))
		if err != nil {
			w.Errorf("manifest lists %q: %v", line.Path, err)
		} else if sum := xxh3.Hash128(data).Bytes(); manifest.Hash(sum) != line.Hash {
			w.Errorf("manifest has another hash for %q", line.Path)
		}
	}
	filepath.WalkDir(w.copy(), func(p string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.copy(), p)
		if rel == own {
			return filepath.SkipDir
		}
		if e.Type().IsRegular() && !listed[filepath.ToSlash(rel)] {
			w.Errorf("manifest lacks %q", rel)
		}
		return nil
	})
	for _, ext := range []string{".next", ".was.xxh128", ".was.names", ".idx~", ".xxh128~", ".names~"} {
		if _, err := os.Lstat(name + ext); err == nil {
			w.Errorf("%s%s is left behind", slot(w.m.Dests[0].Hour), ext)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.dst, own, "tmp")); err == nil {
		w.Errorf("staged files are left behind")
	}
}

// state reads the hour's state.
func (w *world) state() State {
	w.Helper()
	all, err := Hours(w.dst)
	w.must(err)
	for i, hour := range slots() {
		if hour == w.m.Dests[0].Hour {
			return all[i]
		}
	}
	return State{}
}

// index reads the hour's idx, by path.
func (w *world) index() map[string]index.Entry {
	w.Helper()
	f, err := os.Open(filepath.Join(w.dst, own, slot(w.m.Dests[0].Hour)+".idx"))
	w.must(err)
	defer f.Close()
	info, err := f.Stat()
	w.must(err)
	r, err := index.NewReader(f, info.Size(), "idx")
	w.must(err)
	all := map[string]index.Entry{}
	for l, err := range r.All() {
		w.must(err)
		all[l.Path()] = l.Entry
	}
	return all
}

// rewriteIndex changes one entry of the hour's idx.
func (w *world) rewriteIndex(path string, e index.Entry) {
	w.Helper()
	name := filepath.Join(w.dst, own, slot(w.m.Dests[0].Hour)+".idx")
	f, err := os.Open(name)
	w.must(err)
	defer f.Close()
	info, err := f.Stat()
	w.must(err)
	r, err := index.NewReader(f, info.Size(), "idx")
	w.must(err)
	ch := index.NewChanges(w.m.Scratch)
	defer ch.Close()
	dir, base := split(path)
	e.Name = base
	w.must(ch.Add(index.Change{Located: index.Located{Dir: dir, Entry: e}}))
	var b bytes.Buffer
	w.must(mergeIndex(&b, ch, r, false, func(*index.Entry) {}))
	w.must(os.WriteFile(name, b.Bytes(), 0o600))
}
