package bench

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hourhand/hourhand/engine/tree"
)

// flushBatch is how many files are open at once where each has to be synced.
const flushBatch = 64

// flush makes everything below root durable as cheaply as its file system allows
// it honestly: by one sync of the file system where that is a flush, else by one
// of each file and folder.
func flush(ctx context.Context, root string) error {
	d, err := tree.Open(root)
	if err != nil {
		return err
	}
	defer d.Close()
	v, err := d.Volume()
	if err != nil {
		return err
	}
	s, err := tree.NewSyncer(d, v)
	if err != nil {
		return err
	}
	if v.GroupSync {
		err = s.Sync(ctx, nil, nil)
	} else {
		err = flushEach(ctx, s, root)
	}
	return errors.Join(err, s.Close())
}

func flushEach(ctx context.Context, s *tree.Syncer, root string) error {
	var files []*os.File
	sync := func() error {
		err := s.Sync(ctx, files, nil)
		for _, f := range files {
			f.Close() // read only: nothing can be lost
		}
		files = files[:0]
		return err
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return flushFolder(ctx, s, path)
		case !e.Type().IsRegular():
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		if files = append(files, f); len(files) < flushBatch {
			return nil
		}
		return sync()
	})
	return errors.Join(err, sync())
}

func flushFolder(ctx context.Context, s *tree.Syncer, path string) error {
	d, err := tree.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(s.Sync(ctx, nil, []*tree.Dir{d}), d.Close())
}

// cooler drops what the system still has in memory of the source. Which of the
// ways works is learned at the first use, and holds for all cases alike.
type cooler struct{ drop bool }

// dropFrom is the size of a bench from which on dropping all caches, which costs
// every program of the machine some reads, is worth it.
const dropFrom = 50_000_000

const dropCaches = "/proc/sys/vm/drop_caches"

func newCooler(size int64) *cooler {
	return &cooler{drop: size >= dropFrom && runtime.GOOS == "linux" && os.Geteuid() == 0}
}

// how tells how cold the source was, as the end of a sentence.
func (c *cooler) how() string {
	switch {
	case c.drop:
		return "cold: the system's caches were dropped before each run"
	case runtime.GOOS == "linux":
		return "partly cold: the contents of its files were dropped from the cache before each run, their names and sizes were not (that takes root, and trees of 50 MB)"
	}
	return "warm: this system offers no way to drop it from the cache, so reading it cost little"
}

// cool needs a source that is durable: what is not cannot be dropped.
func (c *cooler) cool(ctx context.Context, root string) error {
	if c.drop {
		if os.WriteFile(dropCaches, []byte("3"), 0) == nil {
			return ctx.Err()
		}
		c.drop = false // a container, for instance
	}
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil || e.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		tree.Forget(f)
		return f.Close()
	})
}
