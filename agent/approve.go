package agent

import (
	"errors"
	"fmt"
)

// An approval is kept until a run of the job is sealed, or another list is held:
// so one serves all hours for the same change, and nothing later.
func settingApproved(job string) string { return "approved/" + job }

// settingAdopt lets a job take its target over, until it has sealed an hour there.
func settingAdopt(job string) string { return "adopt/" + job }

// Approve lets the held run's plan pass and starts the job again for the same
// hour. plan "": the one that waits. A run that found another drive than before
// has no list: approving it takes the drives as they are now. ErrNotHeld,
// ErrOtherPlan, and those of Start.
func (a *Agent) Approve(job, plan string) (string, error) {
	j, err := a.config.Store.Job(job)
	if err != nil {
		return "", err
	}
	h, err := a.readHistory(j.ID)
	if err != nil {
		return "", err
	}
	switch {
	case h.last == nil:
		return "", ErrNotHeld
	case h.plan != nil && plan != "" && plan != h.plan.ID:
		return "", fmt.Errorf("%w; look at it again", ErrOtherPlan)
	case h.plan != nil:
		err = a.config.Store.SetSetting(settingApproved(j.ID), h.plan.ID)
	case h.last.Cause == CauseVolume:
		err = a.engine.remark(j.Target, j.Source, owner(j))
	default:
		return "", ErrNotHeld
	}
	if err != nil {
		return "", err
	}
	id, err := a.want(j.ID, &request{trigger: triggerApprove, hours: []int{h.last.Hour}, due: h.last.Due})
	if err != nil {
		return "", errors.Join(err, a.forget(settingApproved(j.ID)))
	}
	a.log.Info("approved", "job", j.Name, "run", h.last.ID)
	return id, nil
}

// forget removes a setting, if it is set.
func (a *Agent) forget(key string) error {
	var value any
	found, err := a.config.Store.Setting(key, &value)
	if err != nil || !found {
		return err
	}
	return a.config.Store.SetSetting(key, nil)
}

// forgetJob removes what the settings say about a job.
func (a *Agent) forgetJob(id string) error {
	for _, key := range []string{settingApproved(id), settingAdopt(id), settingSince(id), settingIndexed(id)} {
		if err := a.forget(key); err != nil {
			return err
		}
	}
	return nil
}
