// Package exclude decides which paths a run leaves out, by patterns in gitignore
// syntax.
package exclude

// Defaults are left out unless the user says otherwise: what the systems keep
// for themselves on a drive. Visible in the README and in `jobs show`.
var Defaults = []string{}

// Rules is a compiled list. The last pattern that matches decides. It may be
// used from several goroutines.
type Rules struct{}

// Compile reads patterns. A pattern that cannot be read is an error that quotes it.
func Compile(patterns []string) (*Rules, error) { panic("stub") }

// Out tells whether a path ('/' separators, relative to the source) is left out,
// and by which pattern. Folders above it are asked first by the walk: Out looks
// at this path alone.
func (r *Rules) Out(path string, folder bool) (out bool, pattern string) { panic("stub") }
