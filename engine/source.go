package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hourhand/hourhand/engine/tree"
)

// source is an opened source. Nothing in the engine writes below it.
type source struct {
	path  string // absolute, links resolved
	root  *tree.Dir
	info  tree.Info
	vol   tree.Volume
	mount uint64
}

// openSource opens a source and reads its root once, so that an unreadable one
// is refused before anything else happens.
func openSource(dir string) (*source, error) {
	if dir == "" {
		return nil, fmt.Errorf("%w: no source given", ErrUsage)
	}
	s := &source{}
	if err := s.open(dir); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *source) open(dir string) (err error) {
	if s.root, err = openRoot(dir, ErrNoSource); err != nil {
		return err
	}
	if s.path, err = resolve(dir); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNoSource, dir, err)
	}
	if s.info, err = s.root.Info(); err == nil {
		s.mount, err = s.root.Mount()
	}
	if err == nil {
		s.vol, err = s.root.Volume()
	}
	if err == nil {
		_, err = s.root.Names()
	}
	if err != nil {
		return fmt.Errorf("%w: %s cannot be read: %w", ErrNoSource, dir, err)
	}
	return nil
}

// resolve makes a path absolute with all its links resolved.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (s *source) close() {
	if s.root != nil {
		s.root.Close()
	}
}

// apart checks that source and target do not overlap: neither is the other, nor
// lies inside it, by device and inode of every folder above, so that no spelling,
// link or bind mount hides it.
func apart(sourceDir, targetDir string) error {
	if err := outside(sourceDir, targetDir, targetDir); err != nil {
		return err
	}
	inside, err := lies(sourceDir, targetDir)
	if inside {
		return fmt.Errorf("%w: the source %s lies inside the target %s", ErrOverlap, sourceDir, targetDir)
	}
	return err
}

// alone checks that a target does not lie inside another one, which would take it
// for files that are not its own.
func alone(targetDir string) error {
	at, err := resolve(targetDir)
	if err != nil {
		return fmt.Errorf("look above the target %s: %w", targetDir, err)
	}
	for up := filepath.Dir(at); up != at; at, up = up, filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, own, "target.json")); err == nil {
			return fmt.Errorf("%w: the target %s lies inside another target, %s; choose a folder beside it", ErrOverlap, targetDir, up)
		}
	}
	return nil
}

// outside checks that at, where a target is or is to be made, does not lie in
// the source.
func outside(sourceDir, at, targetDir string) error {
	inside, err := lies(at, sourceDir)
	if inside {
		return fmt.Errorf("%w: the target %s lies inside the source %s", ErrOverlap, targetDir, sourceDir)
	}
	return err
}

// lies tells whether inner is outer or lies below it.
func lies(inner, outer string) (bool, error) {
	a, err := tree.Ancestors(inner)
	if err != nil {
		return false, fmt.Errorf("look above %s: %w", inner, err)
	}
	b, err := tree.Ancestors(outer)
	if err != nil {
		return false, fmt.Errorf("look above %s: %w", outer, err)
	}
	return slices.Contains(a, b[0]), nil
}
