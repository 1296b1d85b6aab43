package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/hourhand/hourhand/engine/tree"
)

// What a place holds, and nothing else: the trees, the mark by which the next
// bench knows it for ours, and a lock that lives as long as the process.
const (
	placePrefix = "hourhand-bench-"
	sourceName  = "source"
	copyName    = "copy"
	markName    = "hourhand-bench.json"
	lockName    = "lock"
)

// place is a folder of ours inside a folder that was named to us.
type place struct {
	path string
	lock *flock.Flock
	kept bool // something is mounted in it: nothing of it may be removed
}

type mark struct {
	Program string    `json:"program"` // "hourhand bench"
	Machine string    `json:"machine"`
	Started time.Time `json:"started"`
	Note    string    `json:"note"`
}

const program = "hourhand bench"

// checkFolder returns the folder, links resolved, if a bench may work in it. One
// that lies in a target is refused: whatever stands there belongs to an hour.
func checkFolder(dir string) (string, error) {
	err := isFolder(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".hourhand")); !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%w: %s holds verified copies; name a folder beside it on the same drive", ErrPlace, at)
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
	}
}

// newPlace makes a place in dir. The lock comes before the mark: whoever finds
// the mark can trust the lock.
func newPlace(dir string) (*place, error) {
	path, err := os.MkdirTemp(dir, placePrefix)
	if err != nil {
		return nil, unusable(dir, err)
	}
	p := &place{path: path, lock: flock.New(filepath.Join(path, lockName))}
	_, err = p.lock.TryLock()
	if err == nil {
		err = p.writeMark()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mark the folder of the bench: %w", err), p.remove())
	}
	return p, nil
}

func (p *place) writeMark() error {
	data, err := json.Marshal(mark{program, tree.Machine(), time.Now().Round(time.Second),
		"made to measure this drive; if no bench runs, all of it can be removed"})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.path, markName), data, 0o600)
}

// source and copy are where the tree and its copy stand.
func (p *place) source() string { return filepath.Join(p.path, sourceName) }
func (p *place) copy() string   { return filepath.Join(p.path, copyName) }

// sweep removes from dir what killed benches left. Only a real folder with our
// name, mark and machine, whose lock nobody holds, is a leftover; one whose lock
// is held is a bench at work, beside which nothing can be measured.
func sweep(dir string) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, unusable(dir, err)
	}
	for _, e := range entries {
		p := &place{path: filepath.Join(dir, e.Name())}
		if !strings.HasPrefix(e.Name(), placePrefix) || !e.IsDir() || !p.marked() {
			continue
		}
		p.lock = flock.New(filepath.Join(p.path, lockName))
		free, err := p.lock.TryLock()
		if err != nil {
			return removed, fmt.Errorf("look whether a bench works in %s: %w", p.path, err)
		}
		if !free {
			return removed, fmt.Errorf("%w: another bench works in %s; two at once would measure each other", ErrPlace, p.path)
		}
		if err := p.remove(); err != nil {
			return removed, err
		}
		removed = append(removed, p.path)
	}
	return removed, nil
}

// marked tells whether the place carries the mark of a bench of this machine. A
// mark that is a link, or larger than ours can be, is not ours.
func (p *place) marked() bool {
	root, err := os.OpenRoot(p.path)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(markName)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return false
	}
	data, err := root.ReadFile(markName)
	var m mark
	return err == nil && json.Unmarshal(data, &m) == nil && m.Program == program && m.Machine == tree.Machine()
}
