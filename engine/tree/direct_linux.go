package tree

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// goDirect is for files whose bytes are not in the cache: of those that are,
// memory is quicker than the drive, and they are in use by someone.
func goDirect(h handle, size int64) bool {
	if able, err := canDirect(h); err != nil || !able {
		return false
	}
	if pages, err := cachedPages(h); err == nil && int64(pages)*pageSize > size/2 {
		return false
	}
	return setDirect(h, true) == nil
}

var pageSize = int64(os.Getpagesize())

// canDirect tells whether this file takes direct I/O in blocks of ours. Of one
// that the file system encrypts or journals it tells that it does not.
func canDirect(h handle) (bool, error) {
	st, err := statx(h, unix.STATX_DIOALIGN)
	return err == nil && alignsTo(st.Dio_mem_align) && alignsTo(st.Dio_offset_align), err
}

func alignsTo(align uint32) bool { return align != 0 && Block%align == 0 }

// setDirect relies on what all open files of ours have in common: no other flag
// that can be set was asked for when they were opened but O_NOATIME.
func setDirect(h handle, on bool) error {
	flags, err := unix.FcntlInt(uintptr(h), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	want := flags &^ unix.O_DIRECT
	if on {
		want |= unix.O_DIRECT
	}
	if want == flags {
		return nil
	}
	_, err = unix.FcntlInt(uintptr(h), unix.F_SETFL, want)
	return err
}

// allocate reserves a file's space, so that its writes need not wait for each
// other. It is no promise: a file system that cannot does without.
func allocate(h handle, size int64) error {
	err := again(func() error { return unix.Fallocate(int(h), 0, 0, size) })
	if err == unix.ENOSPC || err == unix.EFBIG || err == unix.EDQUOT {
		return err
	}
	return nil
}

// readPiece fills buf from off, as far as the file goes. size is where a stat saw
// the end: a short answer there is believed, elsewhere it is asked again. No more
// is asked for at first than the stat promised, and a byte: a direct read zeroes
// what it leaves of its buffer, which for tiny files was most of its cost.
func readPiece(f *os.File, buf []byte, off, size int64) (n int, err error) {
	h := handle(f.Fd())
	want := len(buf)
	if rest := size - off; rest >= 0 && rest < int64(want) {
		want = int(rest/Block*Block + Block)
	}
	for n < len(buf) {
		more, err := readAt(h, buf[n:want], off+int64(n))
		if err != nil {
			return n, &fs.PathError{Op: "read", Path: f.Name(), Err: err}
		}
		n += more
		if more == 0 || off+int64(n) == size {
			break
		}
		want = len(buf)
	}
	return n, nil
}

// readAt goes on through the cache where a short direct read has ended inside a
// block.
func readAt(h handle, buf []byte, off int64) (n int, err error) {
	pread := func() error {
		n, err = unix.Pread(int(h), buf, off)
		return err
	}
	err = again(pread)
	if err == unix.EINVAL && off%Block != 0 {
		if err = setDirect(h, false); err == nil {
			err = again(pread)
		}
	}
	return n, err
}
