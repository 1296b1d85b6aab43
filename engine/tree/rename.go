package tree

import (
	"crypto/rand"
	"slices"
)

// Rename moves an entry, replacing a file or link at the new place atomically.
// Where both are names of one inode, and rename(2) would do nothing, the old
// name is removed. Transient Windows errors (5, 32, 33) are tried for 2 s.
func (d *Dir) Rename(name string, to *Dir, toName string) error {
	return d.two("rename", name, to, toName, func(dir handle, name string, to handle, toName string) error {
		if err := renameAt(dir, name, to, toName); err != nil {
			return err
		}
		return finishRename(dir, name, to, toName)
	})
}

// RenameNew moves an entry; fs.ErrExist if the new place is taken
// (RENAME_NOREPLACE; where the file system lacks it, lstat and rename).
func (d *Dir) RenameNew(name string, to *Dir, toName string) error {
	return d.two("rename", name, to, toName, renameNewAt)
}

// finishRename looks after a rename that may have done nothing: as POSIX wants it
// where both are names of one file, and as it happens where the volume takes
// them for one name that differs by case.
func finishRename(dir handle, name string, to handle, toName string) error {
	left, err := statAt(dir, name)
	if err != nil {
		return nil // gone, as it should be
	}
	at, err := statAt(to, toName)
	if err != nil || at.Dev != left.Dev || at.Ino != left.Ino {
		return nil // the old name was taken anew by someone else
	}
	if foldAll(name) == foldAll(toName) {
		same, err := sameFolder(dir, to)
		if err != nil || same && name == toName {
			return err
		}
		if same {
			return finishCaseRename(dir, name, toName)
		}
	}
	if left.Nlink < 2 {
		return nil
	}
	return removeAt(dir, name)
}

// finishCaseRename asks the listing which names there are: on a volume that folds
// names, one entry answers to both.
func finishCaseRename(dir handle, name, toName string) error {
	own, err := reopen(dir) // a listing of d may be under way
	if err != nil {
		return err
	}
	defer closeHandle(own)
	names, err := allNames(own)
	if err != nil || !slices.Contains(names, name) {
		return err
	}
	if slices.Contains(names, toName) {
		return removeAt(dir, name)
	}
	between := ".hh~" + rand.Text()
	if err := renameAt(dir, name, dir, between); err != nil {
		return err
	}
	return renameAt(dir, between, dir, toName)
}

func sameFolder(a, b handle) (bool, error) {
	x, err := statHandle(a)
	if err != nil {
		return false, err
	}
	y, err := statHandle(b)
	return x.Dev == y.Dev && x.Ino == y.Ino, err
}
