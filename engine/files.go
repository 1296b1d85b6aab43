package engine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// fsync is a variable so that a test can show that power cuts find it missing.
var fsync = (*os.File).Sync

// maxSmall bounds what is read whole into memory of a file in .hourhand: hostile
// input on a foreign drive. A mark with its job is a few KB.
const maxSmall = 4 << 20

func readSmall(d *tree.Dir, name string) ([]byte, error) {
	f, info, err := d.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size > maxSmall {
		return nil, fmt.Errorf("%s is too large (%d bytes)", name, info.Size)
	}
	return io.ReadAll(io.LimitReader(f, maxSmall))
}

// writeDurable replaces a file of ours: temp, sync, rename, sync of the folder.
func writeDurable(d *tree.Dir, name string, data []byte) error {
	return replaceDurable(d, name, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// replaceDurable is writeDurable for contents that fill writes.
func replaceDurable(d *tree.Dir, name string, fill func(*os.File) error) (err error) {
	if err := stageDurable(d, name, fill); err != nil {
		return err
	}
	if err := d.Rename(name+"~", d, name); err != nil {
		return err
	}
	return syncFolder(d)
}

// stageDurable writes name~ with its contents durable, ready for a rename.
func stageDurable(d *tree.Dir, name string, fill func(*os.File) error) (err error) {
	tmp := name + "~"
	if err := d.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.Create(tmp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.Remove(tmp)
		}
	}()
	if err := fill(f); err != nil {
		f.Close()
		return err
	}
	if err := fsync(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// syncFolder makes a folder's entries durable. File systems that cannot sync a
// folder (EINVAL, ENOTSUP: CIFS, some FUSE) are no error; the Syncer tells that
// durability is not provable there.
func syncFolder(d *tree.Dir) error {
	f, err := d.File()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := fsync(f); err != nil && !cannotSync(err) {
		return err
	}
	return nil
}

func cannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission)
}

// subMake opens a folder in d, making it if it is not there.
func subMake(d *tree.Dir, name string) (*tree.Dir, error) {
	s, err := d.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		s, err = d.Sub(name)
	}
	return s, err
}

// removeAll removes an entry of ours with everything below it, following no
// link. What lies in .hourhand/tmp is flat, so recursion is no danger.
func removeAll(d *tree.Dir, name string) error {
	info, err := d.Stat(name)
	if err != nil {
		return err
	}
	if info.Kind != tree.Folder {
		return d.Remove(name)
	}
	sub, err := d.Sub(name)
	if err != nil {
		return err
	}
	err = emptyFolder(sub)
	sub.Close()
	if err != nil {
		return err
	}
	return d.Rmdir(name)
}

func emptyFolder(d *tree.Dir) error {
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := removeAll(d, n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// newID makes an id that sorts by time: UTC to the second, then 8 random bytes.
func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return time.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}
