package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/hourhand/hourhand/engine"
)

// refusal is an error whose text is only what a person needs, and whose kind is
// for errors.Is.
type refusal struct {
	kind error
	text string
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.kind }

func refusef(kind error, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

// isFolder is an error unless there is a folder.
func isFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refusef(engine.ErrNoTarget, "there is no folder %s; name one that exists, on the drive to be measured", dir)
	case err == nil && !info.IsDir(), errors.Is(err, syscall.ENOTDIR):
		return refusef(engine.ErrNoTarget, "%s is no folder; name the folder around it, or another on the drive to be measured", dir)
	case errors.Is(err, fs.ErrPermission):
		return refusef(engine.ErrNoTarget, "you have no right to look at %s; name a folder of yours on the drive to be measured", dir)
	case err != nil:
		return fmt.Errorf("%w: look at the folder %s: %w", engine.ErrNoTarget, dir, err)
	}
	return nil
}

// unusable says why a bench cannot work in a folder, and what to do.
func unusable(dir string, err error) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return refusef(err, "%s is on a drive that is mounted read-only, and a bench writes; mount it for writing, or name a folder on another drive", dir)
	case errors.Is(err, fs.ErrPermission):
		return refusef(err, "you have no right to list and write %s; name a folder of yours on the same drive", dir)
	}
	return fmt.Errorf("make a folder for the bench in %s: %w", dir, outOfSpace(err))
}
