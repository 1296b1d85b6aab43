package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// execute carries a request out and records it. The error tells why it could
// not be recorded.
func (a *Agent) execute(ctx context.Context, r *request, j store.Job) error {
	if r.verify() {
		return a.audit(ctx, r, j)
	}
	m, err := a.mirrorOf(j, r)
	if err != nil {
		return a.recordUnbegun(r, store.Failed, CauseUsage, err.Error())
	}
	if err := a.findTarget(j); err != nil {
		a.missTarget(r)
		return a.recordUnbegun(r, store.Skipped, CauseNoTarget, err.Error())
	}
	runs, err := a.beginRuns(r)
	if err != nil {
		return err
	}
	a.log.Info("run began", "job", j.Name, "run", r.id, "hours", r.hours, "trigger", r.trigger)
	reports, err := a.engine.run(ctx, m, func(p engine.Progress) { a.progress(r, p) })
	return a.conclude(ctx, r, j, runs, reports, err)
}

// conclude records the reports of a run, one for each of its hours.
func (a *Agent) conclude(ctx context.Context, r *request, j store.Job, runs []store.Run, reports []engine.Report, err error) error {
	states, stateErr := a.engine.hours(j.Target)
	gaveWay := a.gaveWay(r)
	var failed error
	for i, run := range runs {
		rep := engine.Report{Outcome: engine.Failed, Err: err, Ended: a.now()}
		if i < len(reports) {
			rep = reports[i]
		}
		var st *engine.State
		if stateErr == nil && (rep.Changed || rep.Sealed) {
			st = &states[run.Hour]
		}
		run, problems, hour := translate(run, rep, st)
		run.Notes = slices.Concat(run.Notes, gaveWay)
		if rep.Outcome == engine.Cancelled {
			run.Outcome, run.Cause, run.Reason = whoCancelled(ctx)
		}
		a.log.Info("run ended", "job", j.Name, "run", run.ID, "hour", run.Hour, "outcome", run.Outcome, "reason", run.Reason,
			"copied", run.Copied.Files, "updated", run.Updated.Files, "removed", run.Removed.Files, "problems", run.ProblemCount)
		failed = errors.Join(failed, a.settle(r, run, rep.Plan), a.finish(run, problems, hour))
		if hour != nil && hour.SealedBy != "" {
			a.feedIndex(ctx, j, states[run.Hour], hour.SealedBy)
		}
	}
	return failed
}

// whoCancelled tells a person's cancel from the end of the agent.
func whoCancelled(ctx context.Context) (outcome, cause, reason string) {
	if errors.Is(context.Cause(ctx), errCancelled) {
		return store.Cancelled, CauseCancelled, "cancelled by hand"
	}
	return store.Interrupted, CauseStopped, "Hourhand was stopped during the run"
}

// settle draws what follows from a run for the next ones: approvals that are
// used up, and a due to be run again when the drive is back.
func (a *Agent) settle(r *request, run store.Run, plan *engine.Plan) error {
	switch run.Cause {
	case CauseNoTarget:
		a.missTarget(r)
	case CauseLost:
		a.loseTarget(r)
	default:
		a.haveTarget(r.job)
	}
	switch {
	case run.Sealed:
		return errors.Join(a.forget(settingApproved(r.job)), a.forget(settingAdopt(r.job)))
	case plan != nil && plan.ID != r.plan:
		return a.forget(settingApproved(r.job))
	}
	return nil
}

// record is the beginning of a request's record for an hour.
func (a *Agent) record(r *request, hour int) store.Run {
	run := store.Run{ID: r.id, Job: r.job, Hour: hour, Due: r.due, Trigger: r.trigger, Started: a.now()}
	a.mu.Lock()
	defer a.mu.Unlock()
	if j := a.jobs[r.job]; j != nil {
		run.JobName = j.Name
	}
	return run
}

// beginRuns records durably that a request begins, once for each hour, before
// anything is changed.
func (a *Agent) beginRuns(r *request) ([]store.Run, error) {
	var begun []store.Run
	for i, hour := range r.hours {
		run := a.record(r, hour)
		run.ID = recordID(r.id, i, hour)
		run, err := a.config.Store.Begin(run)
		if err != nil {
			err = fmt.Errorf("a run cannot be recorded, so it does not begin: %w", err)
			a.trouble(r.job, err)
			for _, run := range begun {
				run.Outcome, run.Cause, run.Reason = store.Failed, CauseOther, err.Error()
				err = errors.Join(err, a.finish(run, nil, nil))
			}
			return nil, err
		}
		begun = append(begun, run)
	}
	a.refresh(r.job)
	return begun, nil
}

// recordUnbegun records a request that changed nothing.
func (a *Agent) recordUnbegun(r *request, outcome, cause, reason string) error {
	run := a.record(r, a.firstHour(r))
	run.Outcome, run.Cause, run.Reason = outcome, cause, reason
	a.log.Info("run "+outcome, "job", run.JobName, "due", r.due, "reason", reason)
	return a.finish(run, nil, nil)
}

// finish records a run's end and shows it. That the job was removed meanwhile is
// no error.
func (a *Agent) finish(run store.Run, problems []store.Problem, hour *store.Hour) error {
	err := a.config.Store.Finish(run, problems, hour)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		err = fmt.Errorf("the end of a run cannot be recorded: %w", err)
		a.trouble(run.Job, err)
		return err
	}
	a.trouble(run.Job, nil)
	a.refresh(run.Job)
	return nil
}

// trouble keeps why a job's run could not be recorded, until the next one is.
func (a *Agent) trouble(id string, err error) {
	if err != nil {
		a.log.Error("store failed", "job", id, "error", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	j := a.jobs[id]
	switch {
	case j == nil:
	case err == nil:
		j.trouble = ""
	default:
		j.trouble = err.Error()
	}
}
