package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
	"github.com/hourhand/hourhand/web"
)

func TestExitCodesOfErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want code
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{engine.ErrLost, 1},
		{web.ErrNoAgent, 1},
		{agent.ErrNoRun, 1},
		{store.ErrNewer, 1},
		{usagef("no"), 2},
		{engine.ErrUsage, 2},
		{&agent.FieldError{Field: "name", Text: "is taken"}, 2},
		{store.ErrNotFound, 2},
		{engine.ErrHeld, 4},
		{engine.ErrForeign, 4},
		{engine.ErrOverlap, 4},
		{engine.ErrVolume, 4},
		{agent.ErrOtherPlan, 4},
		{engine.ErrNoSource, 5},
		{engine.ErrNoTarget, 5},
		{agent.ErrBusy, 6},
		{agent.ErrPaused, 6},
		{store.ErrLocked, 6},
		{engine.ErrLocked, 6},
		{context.Canceled, 7},
		{engine.ErrMismatch, 8},
		{engine.ErrNoSpace, 9},
		{&exitError{codeProblems}, 3},
	} {
		if got := codeOf(c.err); got != c.want {
			t.Errorf("codeOf(%v): got %d, want %d", c.err, got, c.want)
		}
		if c.err == nil {
			continue
		}
		if got := codeOf(fmt.Errorf("run the job: %w", c.err)); got != c.want {
			t.Errorf("codeOf(%v), wrapped: got %d, want %d", c.err, got, c.want)
		}
	}
}

func TestTheWorstTargetDecides(t *testing.T) {
	for _, c := range []struct {
		codes []code
		want  code
	}{
		{[]code{0, 3}, 3},
		{[]code{3, 0, 6}, 6},
		{[]code{9, 7, 4}, 9},
		{[]code{8, 1}, 8},
		{[]code{1, 9}, 1},
	} {
		total := codeDone
		for _, one := range c.codes {
			total = worst(total, one)
		}
		if total != c.want {
			t.Errorf("worst of %v: got %d, want %d", c.codes, total, c.want)
		}
	}
	for c := code(0); c <= 9; c++ {
		if !slices.Contains(badness, c) {
			t.Errorf("code %d has no place among the codes by badness", c)
		}
	}
}

func TestEveryOutcomeHasAnExitCode(t *testing.T) {
	for _, c := range []struct {
		report report
		want   code
	}{
		{report{Outcome: "done"}, 0},
		{report{Outcome: "partial"}, 3},
		{report{Outcome: "partial", Problems: []problem{{Cause: engine.CauseMismatch}}}, 8},
		{report{Outcome: "held"}, 4},
		{report{Outcome: "failed"}, 1},
		{report{Outcome: "cancelled"}, 7},
		{report{Outcome: "skipped"}, 6},
		{report{Outcome: "missed"}, 1},
		{report{Outcome: "interrupted"}, 1},
		{report{Outcome: "something new"}, 1},
	} {
		if got := c.report.codeByOutcome(); got != c.want {
			t.Errorf("code of %q: got %d, want %d", c.report.Outcome, got, c.want)
		}
	}
}

func TestRunsExitByTheirCause(t *testing.T) {
	for _, c := range []struct {
		run  store.Run
		want code
	}{
		{store.Run{Outcome: store.Failed, Cause: agent.CauseNoSource}, 5},
		{store.Run{Outcome: store.Skipped, Cause: agent.CauseNoTarget}, 5},
		{store.Run{Outcome: store.Failed, Cause: agent.CauseFull}, 9},
		{store.Run{Outcome: store.Failed, Cause: agent.CauseForeign}, 4},
		{store.Run{Outcome: store.Held, Cause: agent.CauseHeld}, 4},
		{store.Run{Outcome: store.Failed, Cause: agent.CauseMismatch}, 8},
		{store.Run{Outcome: store.Partial, Cause: agent.CauseEdited}, 3},
		{store.Run{Outcome: store.Partial, Cause: agent.CauseFiles}, 3},
		{store.Run{Outcome: store.Failed, Cause: agent.CauseLost}, 1},
		{store.Run{Outcome: store.Done}, 0},
	} {
		if got := reportOfRun(c.run, nil).code; got != c.want {
			t.Errorf("%s by %q: got %d, want %d", c.run.Outcome, c.run.Cause, got, c.want)
		}
	}
}
