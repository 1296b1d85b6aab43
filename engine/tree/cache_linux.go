package tree

import "golang.org/x/sys/unix"

func startWrite(h handle, off, n int64) {
	_ = unix.SyncFileRange(int(h), off, n, unix.SYNC_FILE_RANGE_WRITE)
}

// isCached is false before Linux 6.5, where nobody tells: then Forget drops what
// others may want, which costs them a read.
func isCached(h handle) bool {
	pages, err := cachedPages(h)
	return err == nil && pages > 0
}

func adviseSequential(h handle) {
	_ = unix.Fadvise(int(h), 0, 0, unix.FADV_SEQUENTIAL)
}
