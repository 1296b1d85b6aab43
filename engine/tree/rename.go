package tree

import "slices"

// Rename moves an entry, replacing a file or link at the new place atomically.
// Where both are names of one inode, and rename(2) would do nothing, the old
// name is removed. Transient Windows errors (5, 32, 33) are tried for 2 s.
func (d *Dir) Rename(name string, to *Dir, toName string) error {
	return d.two("rename", name, to, toName, func(dir handle, name string, to handle, toName string) error {
		if err := renameAt(dir, name, to, toName); err != nil {
			return err
		}
		return removeTwin(dir, name, to, toName)
	})
}

// RenameNew moves an entry; fs.ErrExist if the new place is taken
// (RENAME_NOREPLACE; where the file system lacks it, lstat and rename).
func (d *Dir) RenameNew(name string, to *Dir, toName string) error {
	return d.two("rename", name, to, toName, renameNewAt)
}

// removeTwin finishes a rename that did nothing, as POSIX wants it where both
// names belong to one inode. An entry with a single name cannot be such a case;
// that it answers to its old name too means that the volume folds names.
func removeTwin(dir handle, name string, to handle, toName string) error {
	left, err := statAt(dir, name)
	if err != nil || left.Nlink < 2 {
		return nil // gone, as it should be
	}
	at, err := statAt(to, toName)
	if err != nil || at.Dev != left.Dev || at.Ino != left.Ino {
		return nil // the old name was taken anew by someone else
	}
	if foldAll(name) == foldAll(toName) {
		twin, err := isTwin(dir, name, to, toName)
		if err != nil || !twin {
			return err
		}
	}
	return removeAt(dir, name)
}

// isTwin tells two names that look alike from one: the same name of the same
// folder, or the old name of an entry that answers to both. Only the listing
// shows which names there are.
func isTwin(dir handle, name string, to handle, toName string) (bool, error) {
	a, err := statHandle(dir)
	if err != nil {
		return false, err
	}
	b, err := statHandle(to)
	if err != nil || name == toName && a.Dev == b.Dev && a.Ino == b.Ino {
		return false, err
	}
	own, err := reopen(dir) // a listing of d may be under way
	if err != nil {
		return false, err
	}
	defer closeHandle(own)
	names, err := listNames(own)
	return slices.Contains(names, name), err
}
