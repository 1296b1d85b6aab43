package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRandomChangesConverge makes random changes to a source between runs; after
// each run the copy must be equal and its manifest right. A failing seed is
// printed, and replayed by giving it in HOURHAND_SEED.
func TestRandomChangesConverge(t *testing.T) {
	seeds := 12
	if testing.Short() {
		seeds = 3
	}
	first := uint64(time.Now().UnixNano())
	if s := os.Getenv("HOURHAND_SEED"); s != "" {
		fmt.Sscan(s, &first)
		seeds = 1
	}
	for i := range seeds {
		seed := first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.m.Yes = true
			w.m.Dests[0].Hour = 14
			c := &chaos{w: w, r: rand.New(rand.NewPCG(seed, 1))}
			for round := range 6 {
				for range 1 + c.r.IntN(25) {
					c.step()
				}
				w.run(Done)
				w.equal()
				if t.Failed() {
					t.Fatalf("round %d of seed %d", round, seed)
				}
			}
		})
	}
}

// chaos changes a source at random.
type chaos struct {
	w     *world
	r     *rand.Rand
	clock int
}

// name picks from few names, so that changes meet.
func (c *chaos) name() string {
	names := []string{"a", "b", "a.b", "ä", "c c", "-d", "\xff\xfe", "e\nf"}
	path := ""
	for range 1 + c.r.IntN(3) {
		path = filepath.Join(path, names[c.r.IntN(len(names))])
	}
	return path
}

func (c *chaos) step() {
	p := filepath.Join(c.w.src, c.name())
	other := filepath.Join(c.w.src, c.name())
	// a parent that is a file or a link gives way, so that any name can be made
	for dir := filepath.Dir(p); len(dir) > len(c.w.src); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			os.Remove(dir)
		}
	}
	os.MkdirAll(filepath.Dir(p), 0o755)
	switch c.r.IntN(10) {
	case 0, 1, 2:
		if info, err := os.Lstat(p); err == nil && !info.Mode().IsRegular() {
			os.RemoveAll(p)
		}
		os.WriteFile(p, []byte(fmt.Sprint(c.r.Uint64())), 0o644)
		c.age(p)
	case 3:
		os.RemoveAll(p)
	case 4:
		os.RemoveAll(p)
		os.MkdirAll(p, 0o755)
		c.age(p)
	case 5:
		os.RemoveAll(p)
		os.Symlink("to "+fmt.Sprint(c.r.IntN(3)), p)
	case 6:
		os.Rename(other, p)
	case 7:
		os.RemoveAll(p)
		os.Link(other, p)
	case 8:
		if info, err := os.Lstat(p); err == nil && info.Mode()&os.ModeSymlink == 0 {
			os.Chmod(p, 0o700|os.FileMode(c.r.IntN(64)))
		}
	case 9:
		c.age(p)
	}
}

// age gives a file an mtime of its own, far from the present.
func (c *chaos) age(p string) {
	c.clock++
	at := old.Add(time.Duration(c.clock) * time.Minute)
	if info, err := os.Lstat(p); err == nil && info.Mode()&os.ModeSymlink == 0 {
		os.Chtimes(p, at, at)
	}
}
