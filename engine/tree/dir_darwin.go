package tree

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

const noAtime = 0 // macOS has no such flag

// listNames opens the folder anew: os.File goes on where another left off.
func listNames(h handle) ([]string, error) {
	own, err := reopen(h)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(own), ".")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func mountOf(h handle) (uint64, error) {
	in, err := statHandle(h)
	return in.Dev, err
}

func renameNoReplace(dir int, name string, to int, toName string) error {
	return unix.RenameatxNp(dir, name, to, toName, unix.RENAME_EXCL)
}
