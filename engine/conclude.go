package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// conclude settles every destination's outcome, leaves the state of those that
// were not sealed, and makes the reports. err is the end of the run as a whole.
func (r *run) conclude(ctx context.Context, err error) ([]Report, error) {
	var reports []Report
	var errs []error
	for _, d := range r.all {
		if err != nil && !d.report.Sealed {
			d.end(err)
		}
		r.outcome(ctx, d)
		reports = append(reports, d.report)
		if d.report.Outcome != Done && d.report.Outcome != Partial {
			errs = append(errs, d.report.Err)
		}
	}
	slices.SortStableFunc(errs, func(a, b error) int { return cmp.Compare(badness(b), badness(a)) })
	if len(errs) == 0 {
		return reports, nil
	}
	return reports, errs[0]
}

// badness orders errors: what a person must act on first is worst.
func badness(err error) int {
	order := []error{context.Canceled, ErrLocked, ErrHeld, ErrVolume, ErrForeign, ErrOverlap, ErrNoTarget, ErrNoSource, ErrNoSpace, ErrLost}
	for i, e := range order {
		if errors.Is(err, e) {
			return i
		}
	}
	return len(order)
}

func (r *run) outcome(ctx context.Context, d *dest) {
	rep := &d.report
	rep.Ended = time.Now()
	rep.Changed = d.begun.Load()
	switch err := d.err(); {
	case err != nil:
		rep.Err, rep.Outcome = err, failedAs(ctx, err)
	case !rep.Sealed:
		r.held(d)
	case rep.ProblemCount > 0:
		rep.Outcome = Partial
		if slices.ContainsFunc(rep.Problems, func(p Problem) bool { return p.Cause == CauseMismatch }) {
			rep.Err = ErrMismatch
		}
	default:
		rep.Outcome = Done
	}
	d.noteLost()
	if d.notes != nil {
		d.noteFound()
	}
	if d.folders != nil && d.lock != nil && !rep.Sealed {
		r.leaveUnsealed(d)
	}
}

// failedAs names the outcome of a run that ended with an error.
func failedAs(ctx context.Context, err error) Outcome {
	switch {
	case ctx.Err() != nil && cancelled(err):
		return Cancelled
	case errors.Is(err, ErrHeld), errors.Is(err, ErrVolume):
		return Held
	}
	return Failed
}

// held stores the plan that waits for a person.
func (r *run) held(d *dest) {
	d.report.Outcome = Held
	b := d.brake
	if b.plan == nil {
		plan, err := d.writePlan()
		if err != nil {
			d.report.Outcome, d.report.Err = Failed, err
			return
		}
		b.plan = plan
	}
	d.report.Plan = b.plan
	d.report.Err = fmt.Errorf("%w: %s", ErrHeld, b.reason)
}

// leaveUnsealed writes the state of a copy that this run did not seal. It never
// looks fresher than it is: content and times are those of the last seal, or
// say that old and new lie side by side.
func (r *run) leaveUnsealed(d *dest) {
	st := d.before
	st.LastRun = LastRun{ID: r.m.RunID, Outcome: d.report.Outcome, Started: r.started.UTC(), Ended: d.report.Ended.UTC(), Problems: d.report.ProblemCount}
	if d.report.Err != nil {
		st.LastRun.Error = d.report.Err.Error()
	}
	if d.begun.Load() {
		st.Content, st.RunID = Mixed, r.m.RunID
		if d.report.Outcome == Held && !d.brake.holdReplacement {
			st.Content = Superset
		}
		if !errors.Is(d.report.Err, ErrLost) && !d.merged {
			d.keepIndex()
		}
	}
	if err := d.writeState(st); err != nil {
		d.note("the state of hour %s could not be written: %v", d.slot, err)
	}
}

// keepIndex stores what the run put in place, so that the next one compares with
// it in place of the contents. Failing at it costs only time.
func (d *dest) keepIndex() {
	idx, err := d.writeIndex(&State{}, false) // the counts in the state stay those of the last seal
	if err == nil {
		err = d.installIndex(idx)
	}
	if err != nil {
		d.note("the idx of hour %s could not be written; the next run compares more: %v", d.slot, err)
	}
}

// noteLost tells once which metadata the target cannot hold.
func (d *dest) noteLost() {
	for what, lost := range map[string]bool{
		"owners": d.lost.Owner, "extended attributes and ACLs": d.lost.Xattr, "modes": d.lost.Mode, "times": d.lost.Times,
	} {
		if lost {
			d.note("%s could not be kept for all files: this account's rights or the target's file system do not allow it", what)
		}
	}
}
