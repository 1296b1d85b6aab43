// Package exclude decides which paths a run leaves out, by patterns in gitignore
// syntax (git help gitignore). It differs from git in two things, both on
// purpose: a pattern that cannot be read is an error where git would quietly
// ignore it, and `?` and `[...]` stand for a character where git counts bytes.
package exclude

import (
	"fmt"
	"runtime"
	"strings"
)

// Defaults are left out unless the user says otherwise: what the systems keep
// for themselves on a drive. Visible in the README and in `jobs show`. Those
// with a leading slash exist at a drive's top only, so a folder of that name
// further down is the user's own.
var Defaults = []string{
	// Windows
	"$RECYCLE.BIN/", // also in redirected folders
	"/System Volume Information/",
	"/Config.Msi/",
	"/pagefile.sys",
	"/hiberfil.sys",
	"/swapfile.sys",
	"/DumpStack.log.tmp",
	// Linux: fsck, and the trash specification's $topdir/.Trash-$uid
	"/lost+found/",
	"/.Trash-*/",
	// macOS
	"/.Trashes/",
	"/.Spotlight-V100/",
	"/.fseventsd/",
	"/.DocumentRevisions-V100/",
	"/.TemporaryItems/",
}

// Rules is a compiled list. The last pattern that matches decides. It may be
// used from several goroutines. The zero value leaves nothing out.
type Rules struct {
	rules    []rule
	foldCase bool
}

// Compile reads patterns, one a string, as lines of a .gitignore: blank ones and
// comments do nothing. A pattern that cannot be read is an error that quotes it.
// On Windows upper and lower case are the same, as git has it there.
func Compile(patterns []string) (*Rules, error) {
	return compile(patterns, runtime.GOOS == "windows")
}

func compile(patterns []string, foldCase bool) (*Rules, error) {
	r := &Rules{foldCase: foldCase}
	for _, p := range patterns {
		rule, ok, err := parse(p, foldCase)
		if err != nil {
			return nil, fmt.Errorf("exclude pattern %q: %w", p, err)
		}
		if ok {
			r.rules = append(r.rules, rule)
		}
	}
	return r, nil
}

// Out tells whether a path ('/' separators, relative to the source) is left out,
// and by which pattern. Folders above it are asked first by the walk: Out looks
// at this path alone.
func (r *Rules) Out(path string, folder bool) (out bool, pattern string) {
	if r.foldCase {
		path = strings.ToLower(path)
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.rules) - 1; i >= 0; i-- {
		rule := &r.rules[i]
		if rule.folderOnly && !folder {
			continue
		}
		subject := base
		if rule.wholePath {
			subject = path
		}
		if rule.match(subject) {
			if rule.negated {
				return false, ""
			}
			return true, rule.text
		}
	}
	return false, ""
}
