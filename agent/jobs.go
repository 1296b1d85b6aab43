package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hourhand/hourhand/store"
)

// SaveJob adds or edits a job (ID "", or one that is not known: adds) after
// checking it: source and target exist or can be made, do not overlap, are not
// another job's; schedule and flags parse. It makes the last component of a new
// target, and marks it. What is wrong with fields is told all at once: see
// FieldErrors. ErrBusy if source or target change while a run is at work. The
// warnings are for a person ("24 copies of 22 GB will not fit").
func (a *Agent) SaveJob(j store.Job) (saved store.Job, warnings []string, err error) {
	return a.saveJob(j, false)
}

// AdoptJob is SaveJob for a target that is not empty and not ours: the first run
// takes it over. Equal files are kept, others are put into found/.
func (a *Agent) AdoptJob(j store.Job) (saved store.Job, warnings []string, err error) {
	return a.saveJob(j, true)
}

func (a *Agent) saveJob(j store.Job, adopt bool) (store.Job, []string, error) {
	a.edit.Lock()
	defer a.edit.Unlock()
	old, err := a.known(j.ID)
	if err != nil {
		return j, nil, err
	}
	j = tidy(j)
	moved := old.ID == "" || old.Source != j.Source || old.Target != j.Target
	if err := a.checkJob(j, moved, adopt); err != nil {
		return j, nil, err
	}
	if moved && a.isWorking(j.ID) {
		return j, nil, fmt.Errorf("%w: a run of %q is at work; wait for its end or cancel it", ErrBusy, old.Name)
	}
	saved, err := a.putJob(j, old, moved, adopt)
	if err != nil {
		return j, nil, err
	}
	a.log.Info("job saved", "job", saved.Name, "source", saved.Source, "target", saved.Target, "schedule", saved.Schedule)
	return saved, a.warnings(saved), nil
}

// known is the stored job with an id; the zero Job if there is none.
func (a *Agent) known(id string) (store.Job, error) {
	if id == "" {
		return store.Job{}, nil
	}
	j, err := a.config.Store.Job(id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && j.ID != id: // another job has this name
		return store.Job{}, nil
	}
	return j, err
}

// tidy brings a job's fields to the form in which they are stored.
func tidy(j store.Job) store.Job {
	j.Name = strings.TrimSpace(j.Name)
	for _, path := range []*string{&j.Source, &j.Target} {
		if *path != "" {
			*path = filepath.Clean(*path)
		}
	}
	j.Schedule = strings.TrimSpace(j.Schedule)
	if j.Mode == "" {
		j.Mode = "mirror"
	}
	if j.Verify == "" {
		j.Verify = "full"
	}
	return j
}

func (a *Agent) isWorking(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.atWork(id) != nil
}

// putJob stores a checked job and takes it into the agent. A target that cannot
// be made or marked undoes it: no job is left without its target.
func (a *Agent) putJob(j, old store.Job, moved, adopt bool) (store.Job, error) {
	unmake := func() {}
	if moved {
		var err error
		if unmake, err = makeTarget(j.Target); err != nil {
			return j, err
		}
	}
	if j.Created.IsZero() && old.ID == "" {
		j.Created = a.now()
	}
	saved, err := a.config.Store.PutJob(j)
	if err != nil {
		unmake()
		if bad, ok := errors.AsType[*store.JobError](err); ok {
			err = &FieldError{Field: bad.Field, Text: bad.Text}
		}
		return j, err
	}
	if moved && !adopt {
		if err := a.engine.remark(saved.Target, saved.Source, owner(saved)); err != nil {
			unmake()
			return j, errors.Join(onField(err), a.unput(saved, old))
		}
	}
	return saved, a.takeIn(saved, old, adopt)
}

// makeTarget makes a target folder that is not there yet, and undoes it if asked.
func makeTarget(dir string) (undo func(), err error) {
	err = os.Mkdir(dir, 0o777)
	switch {
	case err == nil:
		return func() { os.Remove(dir) }, nil // only while it is empty
	case errors.Is(err, fs.ErrExist):
		return func() {}, nil
	}
	return nil, &FieldError{Field: "target", Text: fmt.Sprintf("the target cannot be made: %v", err), Cause: CauseNoTarget}
}

// unput restores what was stored before.
func (a *Agent) unput(saved, old store.Job) error {
	if old.ID == "" {
		return a.config.Store.RemoveJob(saved.ID)
	}
	_, err := a.config.Store.PutJob(old)
	return err
}

// takeIn makes a stored job the agent's. Dues count from now on, unless they are
// those of before.
func (a *Agent) takeIn(saved, old store.Job, adopt bool) error {
	if old.ID == "" || old.Schedule != saved.Schedule || old.Disabled != saved.Disabled {
		if err := a.config.Store.SetSetting(settingSince(saved.ID), a.now()); err != nil {
			return err
		}
	}
	if adopt {
		if err := a.config.Store.SetSetting(settingAdopt(saved.ID), true); err != nil {
			return err
		}
	}
	if err := a.load(saved); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.waiting {
		if r.job == saved.ID {
			r.drives, r.asked = nil, false
		}
	}
	a.publish()
	a.nudge()
	return nil
}

// RemoveJob forgets a job; its folders stay. A run at work is cancelled first.
func (a *Agent) RemoveJob(job string) error {
	a.edit.Lock()
	defer a.edit.Unlock()
	stored, err := a.config.Store.Job(job)
	if err != nil {
		return err
	}
	a.setRemoved(stored.ID, true)
	if err := a.Cancel(stored.ID); err != nil && !errors.Is(err, ErrNoRun) {
		return err
	}
	a.mu.Lock()
	r := a.atWork(stored.ID)
	a.mu.Unlock()
	if r != nil {
		<-r.ended
	}
	if err := a.config.Store.RemoveJob(stored.ID); err != nil {
		a.setRemoved(stored.ID, false)
		return err
	}
	a.mu.Lock()
	delete(a.jobs, stored.ID)
	a.publish()
	a.mu.Unlock()
	a.log.Info("job removed", "job", stored.Name, "target", stored.Target)
	return a.forgetJob(stored.ID)
}

func (a *Agent) setRemoved(id string, removed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if j := a.jobs[id]; j != nil {
		j.removed = removed
	}
}
