package tree

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const noAtime = 0 // macOS has no such flag

// listNames opens the folder anew: os.File goes on where another left off. It
// ends at an error of take.
func listNames(h handle, take func([]string) error) error {
	own, err := reopen(h)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(own), ".")
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		if len(names) > 0 {
			if err := take(names); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

func mountOf(h handle) (uint64, error) {
	in, err := statHandle(h)
	return in.Dev, err
}

func renameNoReplace(dir int, name string, to int, toName string) error {
	return unix.RenameatxNp(dir, name, to, toName, unix.RENAME_EXCL)
}
