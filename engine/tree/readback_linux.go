package tree

import (
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// goPast drops the file's pages and, where the file system can, turns to direct
// reads. Both are needed: direct reads alone come from the cache on ext4 with
// data=journal, dropped pages alone may be there again.
func goPast(h handle, v Volume, c Caps) (past bool, err error) {
	dropPages(h)
	if !v.PastCache || hasHiddenData(h, v, c) {
		return false, nil
	}
	able, err := canDirect(h)
	if err != nil {
		return false, err
	}
	if able && setDirect(h, true) == nil {
		return true, nil
	}
	return noPages(h), nil
}

func dropPages(h handle) {
	_ = again(func() error { return unix.Fadvise(int(h), 0, 0, unix.FADV_DONTNEED) })
}

// noPages tells whether nothing of a file is in the cache (Linux 6.5 can tell).
func noPages(h handle) bool {
	pages, err := cachedPages(h)
	return err == nil && pages == 0
}

func cachedPages(h handle) (uint64, error) {
	var whole unix.CachestatRange // length 0: to the end
	var st unix.Cachestat_t
	err := unix.Cachestat(uint(h), &whole, &st, 0)
	return st.Cache, err
}

// hasHiddenData tells whether a part of the file cannot be read from the device
// as it was written: it lies in the inode, is compressed or shared. Only btrfs
// does these things unasked; ext4 may keep small files in the inode.
func hasHiddenData(h handle, v Volume, c Caps) bool {
	if v.FileSystem != "btrfs" && !c.Inline {
		return false
	}
	flags, err := extentFlags(h)
	return err != nil || flags&hiddenData != 0
}

// These are FIEMAP_EXTENT_* of linux/fiemap.h.
const (
	extentLast    = 0x1
	extentUnknown = 0x2
	extentDelayed = 0x4
	extentEncoded = 0x8
	extentInline  = 0x200
	extentTail    = 0x400
	extentShared  = 0x2000

	hiddenData = extentUnknown | extentDelayed | extentEncoded | extentInline | extentTail | extentShared
)

// fiemap is struct fiemap of linux/fiemap.h with room for some extents.
type fiemap struct {
	start, length uint64
	flags         uint32
	mapped, room  uint32
	_             uint32
	extents       [32]struct {
		logical, physical, length uint64
		_                         [2]uint64
		flags                     uint32
		_                         [3]uint32
	}
}

// extentFlags gathers the flags of all extents.
func extentFlags(h handle) (all uint32, err error) {
	const getFiemap = 0xc020660b // FS_IOC_FIEMAP, _IOWR('f', 11, struct fiemap)
	for start := uint64(0); ; {
		m := fiemap{start: start, length: ^uint64(0) - start}
		m.room = uint32(len(m.extents))
		err := again(func() error {
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(h), getFiemap, uintptr(unsafe.Pointer(&m))); errno != 0 {
				return errno
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, e := range m.extents[:m.mapped] {
			all |= e.flags
			start = e.logical + e.length
		}
		if m.mapped == 0 || all&extentLast != 0 {
			return all, nil
		}
	}
}

// probeInline tells whether a small file is kept in its inode.
func probeInline(f *os.File, v Volume) (bool, error) {
	if !slices.Contains([]string{"ext4", "btrfs"}, v.FileSystem) {
		return false, nil
	}
	if err := f.Sync(); err != nil {
		return false, err
	}
	flags, err := extentFlags(handle(f.Fd()))
	return err == nil && flags&extentInline != 0, nil
}
