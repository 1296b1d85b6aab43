package bench

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hourhand/hourhand/engine"
)

func TestRefusalsNameTheFolderAndWhatToDo(t *testing.T) {
	dir := t.TempDir()
	file, missing := filepath.Join(dir, "file"), filepath.Join(dir, "missing")
	put(t, file, "")
	for _, c := range []struct {
		err, kind error
		says      []string
	}{
		{isFolder(missing), engine.ErrNoTarget, []string{"there is no folder " + missing, "name one that exists"}},
		{isFolder(file), engine.ErrNoTarget, []string{file + " is no folder", "name the folder around it"}},
		{unusable(dir, &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.EROFS}), syscall.EROFS, []string{dir, "mounted read-only", "mount it for writing"}},
		{unusable(dir, &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrPermission}), fs.ErrPermission, []string{dir, "no right", "name a folder of yours"}},
		{room{free: 5_000_000, total: 50_000_000, inodes: -1, drive: Drive{Folder: dir}}.refuse(demand{bytes: 4_000_000}, 2, 10_000_000),
			engine.ErrNoSpace, []string{"too little room", dir, "has 5.0 MB free", "bench of 10 MB needs 8.0 MB", "5.0 MB must stay free", "smaller --size"}},
		{room{free: 5 << 20, total: 50 << 20, inodes: -1}.refuse(demand{bytes: 4 << 20}, 2, 10<<20),
			engine.ErrNoSpace, []string{"has 5.0 MiB free", "bench of 10 MiB needs 8.0 MiB", "5.0 MiB must stay free"}},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("got %v, want %v", c.err, c.kind)
			continue
		}
		for _, text := range c.says {
			if !strings.Contains(c.err.Error(), text) {
				t.Errorf("%q does not say %q", c.err, text)
			}
		}
		for _, raw := range []string{"stat ", "mkdir", "target is"} {
			if strings.Contains(c.err.Error(), raw) {
				t.Errorf("%q has %q, which tells a person nothing", c.err, raw)
			}
		}
	}
}

func TestSameFolderTwiceIsAMistake(t *testing.T) {
	dir := t.TempDir()
	same := filepath.Join(dir, "link")
	if os.Symlink(dir, same) != nil {
		same = dir // Windows lets only some users make a link
	}
	for _, to := range []string{dir, same} {
		if _, err := Run(t.Context(), Options{Dir: dir, To: to, Size: MinSize}, nil); !errors.Is(err, engine.ErrUsage) {
			t.Errorf("%s: got %v, want %v", to, err, engine.ErrUsage)
		}
	}
}
