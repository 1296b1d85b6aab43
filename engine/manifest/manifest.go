// Package manifest reads and writes the lists that prove a copy: HH.xxh128
// (`<32 hex of XXH3-128>  <path>`, one line a regular file, as xxhsum -c reads
// it), HH.names for names that hold a line break, and HH.next, the intents of a
// run at work. What it reads is hostile input: every path is checked to be
// local, clean and free of NUL.
package manifest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrLine is in the error of one line that cannot be used; reading goes on after
// it. An error without it ends the reading.
var ErrLine = errors.New("unusable line")

// Hash is an XXH3-128 in the order of its hex form (big endian, as xxhsum
// prints it): xxh3.Uint128.Bytes.
type Hash [16]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads exactly 32 hex digits.
func ParseHash(s string) (Hash, error) {
	return parseHash([]byte(s))
}

func parseHash(s []byte) (h Hash, err error) {
	if len(s) != hashDigits {
		return h, fmt.Errorf("a hash has %d hex digits, not %d", hashDigits, len(s))
	}
	if _, err := hex.Decode(h[:], s); err != nil {
		return Hash{}, fmt.Errorf("hash %q: %w", s, err)
	}
	return h, nil
}

const hashDigits = 32

// Line is one file of a manifest, or one intent.
type Line struct {
	Path   string // '/' separators, raw bytes
	Hash   Hash
	Remove bool // intent "- path"
}

// MaxPath is more than any system hands out in one piece: 4,096 bytes on Linux,
// 32,767 UTF-16 units (98,301 bytes) on Windows.
const MaxPath = 128 << 10

// checkPath refuses a path that could lead out of the copy, or that names a file
// in a second way.
func checkPath(path string) error {
	return checkPathOn(path, runtime.GOOS == "windows")
}

func checkPathOn(path string, windows bool) error {
	switch {
	case len(path) > MaxPath:
		return fmt.Errorf("path of %d bytes is too long", len(path))
	case strings.IndexByte(path, 0) >= 0:
		return fmt.Errorf("path %q holds a zero byte", path)
	case !filepath.IsLocal(path) || !clean(path):
		return fmt.Errorf("path %q does not lead into the copy in the plain way", path)
	case windows && strings.ContainsAny(path, `\:`):
		// A backslash separates, a colon names a drive or a stream.
		return fmt.Errorf("path %q cannot exist on Windows", path)
	}
	return nil
}

// clean tells whether no component is empty, "." or "..".
func clean(path string) bool {
	for rest, more := path, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	return true
}

// hasBreak tells whether a line cannot carry path. A carriage return counts:
// readers that take CRLF for a line's end drop it.
func hasBreak(path string) bool { return strings.ContainsAny(path, "\r\n") }
