package tree

import (
	"bytes"
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"
)

const noAtime = unix.O_NOATIME

// direntSize holds about 1,500 entries: larger gained nothing on a folder of
// 1,000,000.
const direntSize = 64 << 10

var direntBuffers = sync.Pool{New: func() any { return new([direntSize]byte) }}

// listNames ends at an error of take.
func listNames(h handle, take func([]string) error) error {
	if _, err := unix.Seek(int(h), 0, 0); err != nil {
		return err
	}
	buf := direntBuffers.Get().(*[direntSize]byte)
	defer direntBuffers.Put(buf)
	for {
		n := 0
		err := again(func() (err error) {
			n, err = unix.Getdents(int(h), buf[:])
			return err
		})
		if err != nil || n == 0 {
			return err
		}
		if err := take(namesIn(buf[:n])); err != nil {
			return err
		}
	}
}

// namesIn takes the names out of linux_dirent64 records (getdents64(2)):
// inode 8 bytes, offset 8, length of the record 2, type 1, name up to a NUL. It
// first moves the names together within buf, so that a buffer costs one
// allocation and not one per name.
func namesIn(buf []byte) []string {
	const nameAt = 19
	var ends [direntSize / 24]uint16 // no record is shorter than 24 bytes
	packed, count := 0, 0
	for rest := buf; len(rest) > nameAt; {
		size := binary.NativeEndian.Uint16(rest[16:])
		name := rest[nameAt:size]
		rest = rest[size:]
		name = name[:bytes.IndexByte(name, 0)]
		if string(name) == "." || string(name) == ".." {
			continue
		}
		packed += copy(buf[packed:], name)
		ends[count] = uint16(packed)
		count++
	}
	all, start := string(buf[:packed]), uint16(0)
	names := make([]string, 0, count)
	for _, end := range ends[:count] {
		names = append(names, all[start:end])
		start = end
	}
	return names
}

// mountOf asks for the id that is never used again (Linux 6.8), then for the one
// that may be (5.8).
func mountOf(h handle) (uint64, error) {
	st, err := statx(h, unix.STATX_MNT_ID_UNIQUE|unix.STATX_MNT_ID)
	if err == nil && st.Mask&(unix.STATX_MNT_ID_UNIQUE|unix.STATX_MNT_ID) != 0 {
		return st.Mnt_id, nil
	}
	in, err := statHandle(h)
	return in.Dev, err
}

func statx(h handle, mask int) (st unix.Statx_t, err error) {
	err = again(func() error {
		return unix.Statx(int(h), "", unix.AT_EMPTY_PATH|unix.AT_STATX_SYNC_AS_STAT, mask, &st)
	})
	return st, err
}

func renameNoReplace(dir int, name string, to int, toName string) error {
	return unix.Renameat2(dir, name, to, toName, unix.RENAME_NOREPLACE)
}
