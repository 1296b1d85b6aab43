//go:build linux || darwin

package tree

import (
	"strings"

	"golang.org/x/sys/unix"
)

// A handle is a file descriptor.
type handle int

// component tells whether name is one that can be an entry of a folder.
func component(name string) bool {
	return name != "" && name != "." && name != ".." &&
		strings.IndexByte(name, '/') < 0 && strings.IndexByte(name, 0) < 0
}

// again calls do until no signal interrupts it: Go's own signals (preemption)
// make slow file systems such as FUSE answer EINTR, see golang/go#40846.
func again(do func() error) error {
	for {
		if err := do(); err != unix.EINTR {
			return err
		}
	}
}

func openAt(dir int, name string, flags int, mode uint32) (handle, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode)
		if err != unix.EINTR {
			return handle(fd), err
		}
	}
}

// openToRead opens without touching the access time where that is allowed:
// only the owner may ask for it.
func openToRead(dir int, name string, flags int) (handle, error) {
	h, err := openAt(dir, name, flags|unix.O_RDONLY|noAtime, 0)
	if noAtime != 0 && err == unix.EPERM {
		h, err = openAt(dir, name, flags|unix.O_RDONLY, 0)
	}
	return h, err
}

func openRoot(path string) (handle, error) {
	h, err := openToRead(unix.AT_FDCWD, path, unix.O_DIRECTORY)
	if err == unix.ENOTDIR {
		err = notFolder(path)
	}
	return h, err
}

// notFolder tells a path that ends in something else than a folder from one that
// leads through something else: the latter is absent.
func notFolder(path string) error {
	if _, err := statPath(path); err != nil {
		return err
	}
	return ErrNotFolder
}

// statPath needs no right to read the folder, only to pass those above it.
func statPath(path string) (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Stat(path, &st) })
	return infoOf(&st), err
}

func openFolder(dir handle, name string) (handle, error) {
	h, err := openToRead(int(dir), name, unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err == unix.ENOTDIR || err == unix.ELOOP {
		err = ErrNotFolder
	}
	return h, err
}

// openFile opens with O_NONBLOCK, since the name may have become a FIFO after
// it was listed, and looks at what it got.
func openFile(dir handle, name string) (handle, Info, error) {
	h, err := openToRead(int(dir), name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	switch err {
	case nil:
	case unix.ELOOP, unix.ENXIO: // a link; a socket, or a device without driver
		return -1, Info{}, ErrNotFile
	default:
		return -1, Info{}, err
	}
	in, err := statHandle(h)
	if err == nil && in.Kind != File {
		err = ErrNotFile
	}
	if err == nil {
		// A file left non-blocking would make os.NewFile try the poller.
		err = unix.SetNonblock(int(h), false)
	}
	if err != nil {
		unix.Close(int(h))
		return -1, Info{}, err
	}
	return h, in, nil
}

func createFile(dir handle, name string) (handle, error) {
	h, err := openAt(int(dir), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	return h, nameRefused(dir, err)
}

// nameRefused tells what a new name in dir cannot mean by ENOENT: exfat-fuse
// gives it for a:b, and a caller would think that something had gone away.
func nameRefused(dir handle, err error) error {
	if err != unix.ENOENT {
		return err
	}
	if in, failed := statHandle(dir); failed != nil || in.Nlink == 0 {
		return err // dir itself was removed
	}
	return ErrName
}

// closeHandle does not repeat on EINTR: the descriptor is gone then, and its
// number may be another's already.
func closeHandle(h handle) error {
	if err := unix.Close(int(h)); err != unix.EINTR {
		return err
	}
	return nil
}

// forSync shares the open folder and with it the errors that are to be told.
func forSync(h handle) (handle, error) {
	fd, err := unix.FcntlInt(uintptr(h), unix.F_DUPFD_CLOEXEC, 0)
	return handle(fd), err
}

func statAt(dir handle, name string) (Info, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(int(dir), name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return infoOf(&st), nil
		}
		if err != unix.EINTR {
			return Info{}, err
		}
	}
}

func statHandle(h handle) (Info, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstat(int(h), &st)
		if err == nil {
			return infoOf(&st), nil
		}
		if err != unix.EINTR {
			return Info{}, err
		}
	}
}

func infoOf(st *unix.Stat_t) Info {
	in := Info{
		Kind:  kindOf(uint32(st.Mode)),
		Mode:  uint32(st.Mode) & 0o7777,
		UID:   st.Uid,
		GID:   st.Gid,
		MTime: nanoseconds(int64(st.Mtim.Sec), int64(st.Mtim.Nsec)),
		CTime: nanoseconds(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)),
		Dev:   uint64(st.Dev),
		Ino:   st.Ino,
		Nlink: uint64(st.Nlink),
	}
	if in.Kind == File || in.Kind == Link {
		in.Size = st.Size
		in.Allocated = st.Blocks * 512 // POSIX counts st_blocks in 512 bytes
	}
	return in
}

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File
	case unix.S_IFDIR:
		return Folder
	case unix.S_IFLNK:
		return Link
	}
	return Special
}

func mkdirAt(dir handle, name string) error {
	return nameRefused(dir, again(func() error { return unix.Mkdirat(int(dir), name, 0o700) }))
}

func removeAt(dir handle, name string) error {
	return again(func() error { return unix.Unlinkat(int(dir), name, 0) })
}

func rmdirAt(dir handle, name string) error {
	return again(func() error { return unix.Unlinkat(int(dir), name, unix.AT_REMOVEDIR) })
}

func readlinkAt(dir handle, name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n := 0
		err := again(func() (err error) {
			n, err = unix.Readlinkat(int(dir), name, buf)
			return err
		})
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

func symlinkAt(target string, dir handle, name string, _ bool) error {
	return nameRefused(dir, again(func() error { return unix.Symlinkat(target, int(dir), name) }))
}

func linkAt(dir handle, name string, to handle, toName string) error {
	return again(func() error { return unix.Linkat(int(dir), name, int(to), toName, 0) })
}

func renameAt(dir handle, name string, to handle, toName string) error {
	err := again(func() error { return unix.Renameat(int(dir), name, int(to), toName) })
	if err != unix.ENOENT {
		return err
	}
	if _, missing := statAt(dir, name); missing != nil {
		return err
	}
	return nameRefused(to, err)
}

func renameNewAt(dir handle, name string, to handle, toName string) error {
	err := again(func() error { return renameNoReplace(int(dir), name, int(to), toName) })
	switch err {
	case unix.EINVAL, unix.ENOSYS, unix.ENOTSUP:
	default:
		return err
	}
	if _, err := statAt(to, toName); err != unix.ENOENT {
		if err == nil {
			err = unix.EEXIST
		}
		return err
	}
	return renameAt(dir, name, to, toName)
}
