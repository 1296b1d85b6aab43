package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempSuffix marks a file that is being written, or was when the process died.
const tempSuffix = ".new"

// sweep removes what a process that died left half-written.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		ours := strings.HasPrefix(e.Name(), dbName) || e.Name() == jobsName+tempSuffix
		if ours && (strings.HasSuffix(e.Name(), tempSuffix) || e.Name() == dbName+compactSuffix) {
			os.Remove(filepath.Join(dir, e.Name())) // whoever needs the name tells if it cannot go
		}
	}
	return nil
}

// writeFile replaces a file durably: it holds the old bytes or the new ones
// whatever happens, and the new ones once writeFile returned nil.
func writeFile(path string, data []byte) error {
	temp := path + tempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	// Sync before the rename: ext4 and others may else keep the new name with
	// no bytes after a power cut.
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// stampLayout of file names, in UTC.
const stampLayout = "20060102-150405"

// putAside renames a damaged file to path.damaged-TIME, which nothing ever
// deletes, and returns the new name.
func putAside(path string, now time.Time) (string, error) {
	name := path + ".damaged-" + sane(now).UTC().Format(stampLayout)
	aside := name
	for n := 2; ; n++ {
		_, err := os.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			return aside, rename(path, aside)
		}
		if err != nil {
			return "", err
		}
		aside = fmt.Sprintf("%s-%d", name, n)
	}
}
