package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// code is the exit code of the process. Scripts rely on the numbers.
type code int

const (
	codeDone      code = 0
	codeFailed    code = 1
	codeUsage     code = 2
	codeProblems  code = 3 // some files had problems
	codeHeld      code = 4 // held or refused by a guard
	codeMissing   code = 5 // source or target missing
	codeBusy      code = 6 // busy or locked
	codeCancelled code = 7
	codeMismatch  code = 8 // verification found other bytes
	codeFull      code = 9
)

// badness orders the codes from the best to the worst, for commands with
// several targets. What passes by itself (busy) stands before what needs a
// person, what only did not happen before what broke, and a copy whose bytes
// are wrong above all.
var badness = []code{
	codeDone, codeProblems, codeBusy, codeCancelled, codeHeld, codeMissing,
	codeFull, codeUsage, codeFailed, codeMismatch,
}

// worst is the code of a whole that consists of a and b.
func worst(a, b code) code {
	if slices.Index(badness, b) > slices.Index(badness, a) {
		return b
	}
	return a
}

var errUsage = errors.New("wrong usage")

// codes tells for each error that a command can end with, by errors.Is, what
// the process exits with. An error that is not listed is codeFailed.
var codes = []struct {
	err  error
	code code
}{
	{errUsage, codeUsage},
	{engine.ErrUsage, codeUsage},
	{store.ErrNotFound, codeUsage}, // a job or run that was named and does not exist
	{engine.ErrNoSource, codeMissing},
	{engine.ErrNoTarget, codeMissing},
	{engine.ErrOverlap, codeHeld},
	{engine.ErrForeign, codeHeld},
	{engine.ErrVolume, codeHeld},
	{engine.ErrHeld, codeHeld},
	{agent.ErrOtherPlan, codeHeld},
	{engine.ErrNoSpace, codeFull},
	{engine.ErrLocked, codeBusy},
	{store.ErrLocked, codeBusy},
	{agent.ErrBusy, codeBusy},
	{agent.ErrPaused, codeBusy},
	{agent.ErrStopped, codeBusy},
	{engine.ErrMismatch, codeMismatch},
	{context.Canceled, codeCancelled},
}

// codeOf is the exit code for an error.
func codeOf(err error) code {
	if err == nil {
		return codeDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if e, ok := errors.AsType[*agent.FieldError](err); ok {
		if c, guarded := causes[e.Cause]; guarded {
			return c
		}
		return codeUsage
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return codeFailed
}

// causes tells what a recorded run that is not complete makes the process exit
// with, by the cause that the agent gave it. One that is not listed goes by its
// outcome.
var causes = map[string]code{
	agent.CauseNoSource: codeMissing,
	agent.CauseNoTarget: codeMissing,
	agent.CauseFull:     codeFull,
	agent.CauseLocked:   codeBusy,
	agent.CausePaused:   codeBusy,
	agent.CauseUsage:    codeUsage,
	agent.CauseForeign:  codeHeld,
	agent.CauseOverlap:  codeHeld,
	agent.CauseVolume:   codeHeld,
	agent.CauseMismatch: codeMismatch,
	agent.CauseEdited:   codeProblems,
}

// outcomes is the exit code of a run by its outcome, where nothing says more.
var outcomes = map[string]code{
	store.Done:        codeDone,
	store.Partial:     codeProblems,
	store.Held:        codeHeld,
	store.Failed:      codeFailed,
	store.Cancelled:   codeCancelled,
	store.Skipped:     codeBusy,
	store.Missed:      codeFailed,
	store.Interrupted: codeFailed,
}

// exitError ends a command with a code of its own. Everything a person needs
// has been printed already: it has no text.
type exitError struct{ code code }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", int(e.code)) }

// ended turns the code of a command that has told everything into its error.
func ended(c code) error {
	if c == codeDone {
		return nil
	}
	return &exitError{c}
}

// usagef is a mistake in how the command was called.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

type usageError struct{ text string }

func (e *usageError) Error() string        { return e.text }
func (e *usageError) Is(target error) bool { return target == errUsage }
