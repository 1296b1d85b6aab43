//go:build !windows

package store

import (
	"errors"
	"os"
	"path/filepath"
)

// rename moves a file over another one, durably.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
