package tree

import "golang.org/x/sys/unix"

const readOnlyFlag = unix.ST_RDONLY

func syncFileSystem(h handle) error {
	return again(func() error { return unix.Syncfs(int(h)) })
}

func syncHandle(h handle) error {
	return again(func() error { return unix.Fsync(int(h)) })
}
