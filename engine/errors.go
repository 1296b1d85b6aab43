package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/hourhand/hourhand/engine/tree"
)

// fileError is trouble with one file on its way to a Problem.
type fileError struct {
	cause string
	err   error
}

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

func fileErr(cause, format string, args ...any) error {
	return &fileError{cause, fmt.Errorf(format, args...)}
}

// errVanished: what was listed is gone, or has become something else.
var errVanished = errors.New("it vanished after it was listed")

// readErr classifies an error of reading the source.
func readErr(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fileErr(CausePermission, "no right to read it: %w", err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, tree.ErrNotFile), errors.Is(err, tree.ErrNotFolder):
		return &fileError{CauseChanged, fmt.Errorf("%w: %w", errVanished, err)}
	}
	return fileErr(CauseRead, "cannot be read: %w", err)
}

// writeError turns errors of a whole target into the run's sentinels: full,
// lost. Others pass through.
func writeError(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrNoSpace), errors.Is(err, ErrLost):
		return err
	case diskFull(err), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	case driveGone(err), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO),
		errors.Is(err, syscall.ENOTCONN), errors.Is(err, syscall.ESTALE), errors.Is(err, syscall.ESHUTDOWN):
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// fatal tells that an error is about the whole target or the run, not one file.
func fatal(err error) bool {
	return errors.Is(err, ErrNoSpace) || errors.Is(err, ErrLost) || cancelled(err)
}

// cancelled tells that work was given up because its context ended.
func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// writeErr classifies an error of writing one file at the target; nil stays nil.
func writeErr(err error) error {
	err = writeError(err)
	switch {
	case err == nil, fatal(err):
		return err
	case errors.Is(err, syscall.EFBIG):
		return fileErr(CauseTooLarge, "too large for the target's file system: %w", err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fileErr(CauseName, "the name is too long for the target: %w", err)
	case errors.Is(err, tree.ErrName):
		return fileErr(CauseName, "the target's file system refuses this name: %w", err)
	case errors.Is(err, fs.ErrPermission):
		return fileErr(CausePermission, "no right to write it at the target: %w", err)
	}
	return fileErr(CauseWrite, "cannot be written at the target: %w", err)
}

// transient tells errors that may well be gone in a few seconds: somebody else
// holds the file, a server was busy. EIO is none: a bad sector stays bad.
func transient(err error) bool {
	for _, e := range []error{syscall.EAGAIN, syscall.EBUSY, syscall.EINTR, syscall.ETIMEDOUT, syscall.ETXTBSY, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, e) {
			return true
		}
	}
	var f *fileError
	return sharing(err) || errors.As(err, &f) && f.cause == CauseMismatch
}

// problem makes a report's line of an error about path.
func problem(path string, err error) Problem {
	p := Problem{Path: path, Error: err.Error(), Cause: CauseOther}
	var f *fileError
	if errors.As(err, &f) {
		p.Cause = f.cause
	}
	return p
}
