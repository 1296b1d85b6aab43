package bench

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/engine/tree"
)

// put makes a file with its folders.
func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestPlacesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a file"), "")
	put(t, filepath.Join(dir, "target", ".hourhand", "target.json"), "{}")
	put(t, filepath.Join(dir, "target", "14", "docs", "x"), "")
	if err := os.Symlink(filepath.Join(dir, "target", "14"), filepath.Join(dir, "link")); err != nil {
		t.Log(err) // Windows lets only some users make one; the row is then of a missing folder
	}
	for _, c := range []struct {
		folder string
		want   []error
	}{
		{"missing", []error{engine.ErrNoTarget}},
		{"a file", []error{engine.ErrNoTarget}},
		{"target", []error{ErrPlace}},
		{"target/14/docs", []error{ErrPlace}},
		{"target/.hourhand", []error{ErrPlace}},
		{"link", []error{ErrPlace, engine.ErrNoTarget}},
	} {
		before := contents(t, dir)
		_, err := Run(t.Context(), Options{Dir: filepath.Join(dir, c.folder), Size: MinSize}, nil)
		ok := false
		for _, w := range c.want {
			ok = ok || errors.Is(err, w)
		}
		if !ok {
			t.Errorf("%s: got %v, want %v", c.folder, err, c.want)
		}
		if after := contents(t, dir); len(after) != len(before) {
			t.Errorf("%s: the refusal left %d entries where %d were", c.folder, len(after), len(before))
		}
	}
}

func TestPlaceLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	p, err := newPlace(dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(p.source(), "a", "b"), "x")
	put(t, filepath.Join(p.copy(), ".hourhand", "target.json"), "x")
	if err := p.remove(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

func TestForeignFileInAPlaceStays(t *testing.T) {
	p, err := newPlace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(p.path, "mine.txt"), "precious")
	if err := p.remove(); err == nil {
		t.Error("nobody is told of the file that stays")
	}
	if !exists(filepath.Join(p.path, "mine.txt")) {
		t.Error("a foreign file was removed")
	}
}

// killed is what a bench leaves whose process died: the place, without the lock.
func killed(t *testing.T, dir string) *place {
	t.Helper()
	p, err := newPlace(dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(p.source(), "video.mov"), "x")
	if err := p.lock.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSweepRemovesOnlyWhatIsOurs(t *testing.T) {
	otherMark := func(change func(*mark)) func(*testing.T, *place) {
		return func(t *testing.T, p *place) {
			m := mark{Program: program, Machine: tree.Machine()}
			change(&m)
			data, _ := json.Marshal(m)
			put(t, filepath.Join(p.path, markName), string(data))
		}
	}
	for _, c := range []struct {
		name    string
		change  func(*testing.T, *place)
		removed bool
	}{
		{"killed", func(*testing.T, *place) {}, true},
		{"mark gone", func(t *testing.T, p *place) { os.Remove(filepath.Join(p.path, markName)) }, false},
		{"mark of another program", otherMark(func(m *mark) { m.Program = "other" }), false},
		{"mark of another machine", otherMark(func(m *mark) { m.Machine = "other" }), false},
		{"mark damaged", func(t *testing.T, p *place) { put(t, filepath.Join(p.path, markName), `{"program":`) }, false},
		{"mark is a folder", func(t *testing.T, p *place) {
			os.Remove(filepath.Join(p.path, markName))
			put(t, filepath.Join(p.path, markName, "x"), "")
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			p := killed(t, dir)
			c.change(t, p)
			removed, err := sweep(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := !exists(p.path); got != c.removed || (len(removed) == 1) != c.removed {
				t.Errorf("removed is %v and told as %v, want %v", got, removed, c.removed)
			}
		})
	}
}

func TestSweepFollowsNoLink(t *testing.T) {
	elsewhere, dir := t.TempDir(), t.TempDir()
	p := killed(t, elsewhere)
	if err := os.Symlink(p.path, filepath.Join(dir, filepath.Base(p.path))); err != nil {
		t.Log(err) // then there is none to follow
	}
	// A link inside a leftover goes, what it points to stays.
	precious := filepath.Join(t.TempDir(), "precious")
	put(t, filepath.Join(precious, "x"), "")
	q := killed(t, dir)
	if err := os.Symlink(precious, q.copy()); err != nil {
		t.Log(err)
	}
	removed, err := sweep(dir)
	if err != nil || len(removed) != 1 {
		t.Errorf("removed %v, %v; want the one real leftover", removed, err)
	}
	if !exists(p.source()) || !exists(filepath.Join(precious, "x")) {
		t.Error("a link was followed")
	}
}

func TestBenchAtWorkIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	p, err := newPlace(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.remove()
	if _, err := Run(t.Context(), Options{Dir: dir, Size: MinSize}, nil); !errors.Is(err, ErrPlace) {
		t.Errorf("got %v, want %v", err, ErrPlace)
	}
	if !exists(p.path) {
		t.Error("the place of a bench at work was removed")
	}
}

func TestSizeThatFits(t *testing.T) {
	const GB = 1_000_000_000
	for _, c := range []struct {
		name        string
		free, total int64
		inodes      int64
		same        bool
		size, want  int64 // want 0: refused
	}{
		{"roomy", 100 * GB, 200 * GB, -1, true, 0, DefaultSize},
		{"1 GB stays free", 2 * GB, 200 * GB, -1, true, 0, DefaultSize},
		{"else less", 15 * GB / 10, 200 * GB, -1, true, 0, DefaultSize / 2},
		{"two drives need half each", 15 * GB / 10, 200 * GB, -1, false, 0, DefaultSize},
		{"a tenth of a small drive stays free", GB, GB, -1, true, 0, DefaultSize},
		{"chosen size does not fit", 15 * GB / 10, 200 * GB, -1, true, GB, 0},
		{"chosen size fits", 15 * GB / 10, 200 * GB, -1, true, GB / 4, GB / 4},
		{"nothing fits", GB, 200 * GB, -1, true, 0, 0},
		{"too few inodes", 100 * GB, 200 * GB, 100, true, 0, 0},
		{"fewer inodes, fewer files", 100 * GB, 200 * GB, 30_000, true, 0, DefaultSize / 2},
	} {
		on := room{free: c.free, total: c.total, inodes: c.inodes}
		r, o := race{works: works, same: c.same, source: on, target: on}, Options{Size: c.size}
		err := r.fit(&o)
		if c.want == 0 && !errors.Is(err, engine.ErrNoSpace) {
			t.Errorf("%s: got %d, %v, want %v", c.name, o.Size, err, engine.ErrNoSpace)
		}
		if c.want != 0 && (err != nil || o.Size != c.want) {
			t.Errorf("%s: got %d, %v, want %d", c.name, o.Size, err, c.want)
		}
	}
}
