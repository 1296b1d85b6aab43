//go:build !windows

package engine

import (
	"fmt"
	"io/fs"
	"syscall"
)

func inodeOf(info fs.FileInfo) (id string, names uint64) {
	st := info.Sys().(*syscall.Stat_t)
	return fmt.Sprint(st.Dev, st.Ino), uint64(st.Nlink)
}
