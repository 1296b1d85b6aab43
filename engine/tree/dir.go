package tree

import (
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Dir is an opened folder. Names are single components; a name that is empty,
// "." or "..", or that holds a separator or NUL is refused with fs.ErrInvalid,
// so that no caller can leave the tree by mistake. Its methods may be called
// from any goroutine, but none while or after Close runs.
//
// Errors are *fs.PathError or *os.LinkError that name the component, not the
// whole path: the caller knows where it is.
type Dir struct {
	h    handle
	name string // the component it was opened by; a root's path

	listing sync.Mutex // the handle has one reading position
}

// Open opens a root. Links in path, and path itself if it is a link, are
// resolved now, once. A path that is no folder is ErrNotFolder.
func Open(path string) (*Dir, error) {
	h, err := openRoot(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Dir{h: h, name: path}, nil
}

// Close frees the handle. The folder's Subs and files stay open.
func (d *Dir) Close() error { return pathError("close", d.name, closeHandle(d.h)) }

// Sub opens a folder in d. A link is ErrNotFolder, never followed.
func (d *Dir) Sub(name string) (*Dir, error) {
	if !component(name) {
		return nil, invalid("open", name)
	}
	h, err := openFolder(d.h, name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &Dir{h: h, name: name}, nil
}

// Names lists all entries without "." and "..", sorted by bytes, each once even
// where a folder that changes meanwhile tells one twice. Only a nil error means
// that the list is whole.
func (d *Dir) Names() ([]string, error) {
	d.listing.Lock()
	defer d.listing.Unlock()
	names, err := allNames(d.h)
	return names, pathError("list", d.name, err)
}

func allNames(h handle) (names []string, err error) {
	err = listNames(h, func(some []string) error {
		names = append(names, some...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// List hands all entries without "." and ".." to take, batch by batch, unsorted,
// and an entry of a folder that changes meanwhile perhaps twice: for folders that
// memory may not hold. It ends at an error of take and returns it as it is. Only
// a nil error means that the list is whole. take must not list d.
func (d *Dir) List(take func(names []string) error) error {
	d.listing.Lock()
	defer d.listing.Unlock()
	var taken error
	err := listNames(d.h, func(names []string) error {
		taken = take(names)
		return taken
	})
	if taken != nil {
		return taken
	}
	return pathError("list", d.name, err)
}

// Stat is lstat of an entry.
func (d *Dir) Stat(name string) (Info, error) {
	if !component(name) {
		return Info{}, invalid("stat", name)
	}
	in, err := statAt(d.h, name)
	return in, pathError("stat", name, err)
}

// Info is the stat of d itself.
func (d *Dir) Info() (Info, error) {
	in, err := statHandle(d.h)
	return in, pathError("stat", d.name, err)
}

// Mount tells which mount d lies on: equal numbers, same mount (statx mount id
// where there is one, else the device). A junction or mount point is another.
func (d *Dir) Mount() (uint64, error) {
	id, err := mountOf(d.h)
	return id, pathError("stat", d.name, err)
}

// OpenFile opens a regular file for reading and returns the stat of what was
// really opened. It never blocks (FIFO) and never follows a link: ErrNotFile.
// The access time is left alone where the rights allow (O_NOATIME).
func (d *Dir) OpenFile(name string) (*os.File, Info, error) {
	if !component(name) {
		return nil, Info{}, invalid("open", name)
	}
	h, in, err := openFile(d.h, name)
	if err != nil {
		return nil, Info{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), in, nil
}

// Create makes a new file, 0600, open for reading and writing; fs.ErrExist if
// the name is taken.
func (d *Dir) Create(name string) (*os.File, error) {
	if !component(name) {
		return nil, invalid("create", name)
	}
	h, err := createFile(d.h, name)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// Mkdir makes a folder, 0700.
func (d *Dir) Mkdir(name string) error { return d.one("mkdir", name, mkdirAt) }

// Remove removes a file, link or special file, never a folder. A read-only
// attribute of ours is no obstacle (it is cleared once).
func (d *Dir) Remove(name string) error { return d.one("remove", name, removeAt) }

// Rmdir removes an empty folder.
func (d *Dir) Rmdir(name string) error { return d.one("rmdir", name, rmdirAt) }

func (d *Dir) one(op, name string, do func(handle, string) error) error {
	if !component(name) {
		return invalid(op, name)
	}
	return pathError(op, name, do(d.h, name))
}

// Readlink reads a link's target as it is stored. Of a junction it begins with
// \??\, by which Symlink makes a junction again.
func (d *Dir) Readlink(name string) (string, error) {
	if !component(name) {
		return "", invalid("readlink", name)
	}
	target, err := readlinkAt(d.h, name)
	return target, pathError("readlink", name, err)
}

// Symlink makes a link. folder: whether it points to a folder (Windows).
func (d *Dir) Symlink(target, name string, folder bool) error {
	if !component(name) {
		return invalid("symlink", name)
	}
	return pathError("symlink", name, symlinkAt(target, d.h, name, folder))
}

// Link makes toName in to another name of the file name in d.
func (d *Dir) Link(name string, to *Dir, toName string) error {
	return d.two("link", name, to, toName, linkAt)
}

func (d *Dir) two(op, name string, to *Dir, toName string, do func(handle, string, handle, string) error) error {
	if !component(name) {
		return invalid(op, name)
	}
	if !component(toName) {
		return invalid(op, toName)
	}
	if err := do(d.h, name, to.h, toName); err != nil {
		return &os.LinkError{Op: op, Old: name, New: toName, Err: err}
	}
	return nil
}

// File makes an *os.File for syncs and xattrs of d; the caller closes it.
func (d *Dir) File() (*os.File, error) {
	h, err := forSync(d.h)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: d.name, Err: err}
	}
	return os.NewFile(uintptr(h), d.name), nil
}

// FileInfo is the stat of an open file.
func FileInfo(f *os.File) (Info, error) {
	in, err := statHandle(handle(f.Fd()))
	return in, pathError("stat", f.Name(), err)
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func invalid(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
}
