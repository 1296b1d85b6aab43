package index

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Key of an entry for a Sorter: bytes.Compare of keys is the idx's order: folders
// in the order of the walk (a folder, then what is below it, by component), and
// in each folder its entries by name. dir is "" for the root, else "a/b".
//
// It is the components of dir joined by a zero byte, two zero bytes, the name:
// a zero byte sorts before all that a name can hold, so a folder's own entries
// come before those of its subfolders, and "a/x" before "a.b".
func Key(dir, name string) []byte {
	return appendKey(make([]byte, 0, len(dir)+2+len(name)), dir, name)
}

func appendKey(buf []byte, dir, name string) []byte {
	start := len(buf)
	buf = append(buf, dir...)
	for i := start; i < len(buf); i++ {
		if buf[i] == '/' {
			buf[i] = 0
		}
	}
	buf = append(buf, 0, 0)
	return append(buf, name...)
}

// SplitKey is the inverse of Key. A key that no dir and name can have is an
// error.
func SplitKey(key []byte) (dir, name string, err error) {
	d, n, ok := bytes.Cut(key, []byte{0, 0})
	if !ok || bytes.IndexByte(d, '/') >= 0 {
		return "", "", fmt.Errorf("%q is no key", key)
	}
	dir, name = string(bytes.ReplaceAll(d, []byte{0}, []byte{'/'})), string(n)
	if err := errors.Join(checkDir(dir), checkName(name)); err != nil {
		return "", "", fmt.Errorf("%q is no key: %w", key, err)
	}
	return dir, name, nil
}

// ComparePaths orders paths by component: "a" < "a/x" < "a.b". It is the order
// of bytes with '/' before all others.
func ComparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] == b[i] {
			continue
		}
		switch {
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		case a[i] < b[i]:
			return -1
		}
		return 1
	}
	switch {
	case len(a) < len(b):
		return -1
	case len(a) > len(b):
		return 1
	}
	return 0
}

// checkName refuses what no entry of a folder can be called.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("empty name")
	case name == "." || name == "..":
		return fmt.Errorf("name %q", name)
	case strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("name %q holds a zero byte", name)
	case strings.IndexByte(name, '/') >= 0:
		return fmt.Errorf("name %q holds a slash", name)
	}
	return nil
}

// checkDir refuses what is not "" or clean components joined by slashes.
func checkDir(dir string) error {
	for rest, more := dir, dir != ""; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if err := checkName(name); err != nil {
			return fmt.Errorf("folder %q: %w", dir, err)
		}
	}
	return nil
}
