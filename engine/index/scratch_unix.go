//go:build unix

package index

import "os"

// newScratch makes a file in folder dir that vanishes with its last handle, also
// if the process is killed.
func newScratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "spill-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
