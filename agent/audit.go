package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// audit reads hours back. Each is recorded as a run with trigger "verify".
func (a *Agent) audit(ctx context.Context, r *request, j store.Job) error {
	a.log.Info("verification began", "job", j.Name, "run", r.id, "hours", r.hours, "repair", r.repair)
	var failed error
	for i, hour := range r.hours {
		if i > 0 && ctx.Err() != nil {
			break // the hours that were not begun have no record
		}
		run := a.record(r, hour)
		run.ID = recordID(r.id, i, hour)
		run, err := a.config.Store.Begin(run)
		if err != nil {
			return errors.Join(failed, fmt.Errorf("a verification cannot be recorded, so it does not begin: %w", err))
		}
		h := engine.Hour{
			Dest: engine.Dest{Target: j.Target, Hour: hour}, Source: j.Source,
			Repair: r.repair, Workers: j.Workers, Gate: &r.gate,
		}
		audit, err := a.engine.verify(ctx, h, func(p engine.Progress) { a.progress(r, p) })
		if errors.Is(err, engine.ErrNoTarget) {
			a.missTarget(r)
		}
		run.Notes = a.gaveWay(r)
		failed = errors.Join(failed, a.concludeAudit(ctx, j, run, audit, err))
	}
	return failed
}

// concludeAudit records what a verification found. Only one that found bytes gone
// bad takes the place of the hour's last copy on the board.
func (a *Agent) concludeAudit(ctx context.Context, j store.Job, run store.Run, audit engine.Audit, err error) error {
	run, problems := translateAudit(run, audit, err)
	if ctx.Err() != nil {
		run.Outcome, run.Cause, run.Reason = whoCancelled(ctx)
	}
	a.log.Info("verification ended", "job", j.Name, "run", run.ID, "hour", run.Hour, "outcome", run.Outcome, "reason", run.Reason,
		"equal", audit.Equal.Files, "rot", audit.Rot, "missing", audit.Missing, "healed", audit.Healed)
	board, err := a.config.Store.Board(j.ID)
	if err != nil {
		return err
	}
	field := board[run.Hour]
	if states, err := a.engine.hours(j.Target); err == nil {
		field = fieldOf(states[run.Hour], field)
	}
	healed := run.Outcome == store.Done && a.isMismatch(field.LastRun)
	err = a.finish(run, problems, &field)
	if err == nil && run.Cause != CauseMismatch && !healed {
		err = a.config.Store.SetHour(j.ID, run.Hour, field)
		a.refresh(j.ID)
	}
	return err
}

// isMismatch tells a run that found bytes gone bad.
func (a *Agent) isMismatch(id string) bool {
	last, err := a.config.Store.Run(id)
	return err == nil && last.Trigger == triggerVerify && last.Cause == CauseMismatch
}

// damage says what a verification found, without what it did not find.
func damage(audit engine.Audit) string {
	var all []string
	for _, one := range []struct {
		n    int64
		what string
	}{{audit.Rot, "damaged"}, {audit.Missing, "missing"}, {audit.Unreadable, "unreadable"}} {
		if one.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	return strings.Join(all, ", ")
}

// translateAudit turns what a verification found into its record.
func translateAudit(run store.Run, audit engine.Audit, err error) (store.Run, []store.Problem) {
	run.Outcome, run.Ended = store.Done, audit.Ended
	run.Unchanged, run.Verified, run.ProblemCount = store.Count(audit.Equal), verified(audit.Verified), audit.FoundCount
	bad, odd := audit.Rot+audit.Missing+audit.Unreadable, audit.Edited+audit.Extra
	switch {
	case err != nil && !errors.Is(err, engine.ErrMismatch):
		run.Outcome, run.Cause, run.Reason = store.Failed, causeOf(err), err.Error()
	case bad > 0:
		run.Outcome, run.Cause = store.Failed, CauseMismatch
		run.Reason = fmt.Sprintf("hour %02d: files found %s; verify --repair heals what is damaged", run.Hour, damage(audit))
	case odd > 0:
		run.Outcome, run.Cause = store.Partial, CauseEdited
		run.Reason = fmt.Sprintf("hour %02d: %d files were edited since they were copied, %d are not ours", run.Hour, audit.Edited, audit.Extra)
	case audit.Interrupted:
		run.Outcome, run.Cause = store.Partial, CauseOther
		run.Reason = fmt.Sprintf("hour %02d was left half-way by an interrupted run; its next run completes it", run.Hour)
	}
	if audit.Healed > 0 {
		run.Notes = append(run.Notes, fmt.Sprintf("%d damaged files were healed", audit.Healed))
	}
	run.ProblemCount -= audit.Healed // what is right again is no problem
	var problems []store.Problem
	for _, f := range audit.Found {
		if f.Finding == engine.FindingHealed {
			continue
		}
		problems = append(problems, store.Problem{Path: f.Path, Error: cmp.Or(f.Detail, string(f.Finding)), Cause: string(f.Finding)})
	}
	return run, problems
}
