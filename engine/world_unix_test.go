//go:build !windows

package engine

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

func inodeOf(info fs.FileInfo) (id string, names uint64) {
	st := info.Sys().(*syscall.Stat_t)
	return fmt.Sprint(st.Dev, st.Ino), uint64(st.Nlink)
}

func allocated(t testing.TB, path string) int64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}
