package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/engine/exclude"
	"github.com/hourhand/hourhand/store"
)

const modeChanges = "changes"

// The words of a job's fields. "" is the default; for the profile that is gentle
// when the schedule asks, and normal when a person waits for it.
var (
	modes    = map[string]engine.Mode{"": engine.ModeMirror, "mirror": engine.ModeMirror, modeChanges: engine.ModeChanges}
	proofs   = map[string]engine.Proof{"": engine.VerifyFull, "full": engine.VerifyFull, "source": engine.VerifySource, "none": engine.VerifyNone}
	profiles = map[string]engine.Profile{"": engine.ProfileGentle, "gentle": engine.ProfileGentle, "normal": engine.ProfileNormal, "full": engine.ProfileFull}
)

// mirrorOf is the engine's order for a request. It reads what a person approved
// for the job, and puts the job's limit on the request's gate.
func (a *Agent) mirrorOf(j store.Job, r *request) (engine.Mirror, error) {
	m, err := Settings(j)
	if err != nil {
		return m, err
	}
	for _, hour := range r.hours {
		m.Dests = append(m.Dests, engine.Dest{Target: j.Target, Hour: hour})
	}
	m.Profile = profiles[profileOf(j, r)]
	_, approvedErr := a.config.Store.Setting(settingApproved(j.ID), &r.plan)
	_, adoptErr := a.config.Store.Setting(settingAdopt(j.ID), &m.Adopt)
	r.gate.SetLimit(j.Limit)
	m.Plan, m.RunID, m.Due, m.Gate, m.Scratch = r.plan, r.id, r.due, &r.gate, a.config.Scratch
	return m, errors.Join(approvedErr, adoptErr)
}

// profileOf is how much a request takes from others, in a word: as the job says,
// else gentle when the schedule asks, and normal when a person waits for it.
func profileOf(j store.Job, r *request) string {
	switch {
	case j.Profile != "":
		return j.Profile
	case r.scheduled():
		return "gentle"
	}
	return "normal"
}

// Settings takes over the fields of a job that say how to copy; the command line
// makes its one-shot mirrors by it too. Each field that cannot be read is a
// *FieldError in the joined error. The limit is the caller's to put on a gate.
func Settings(j store.Job) (engine.Mirror, error) {
	var c complaints
	m := engine.Mirror{
		Source: j.Source, Owner: owner(j),
		Mode:      read(&c, "mode", j.Mode, oneOf(modes)),
		Verify:    read(&c, "verify", j.Verify, oneOf(proofs)),
		Profile:   read(&c, "profile", j.Profile, oneOf(profiles)),
		Keep:      read(&c, "keep", j.Keep, ParseKeep),
		MaxDelete: read(&c, "max_delete", j.MaxDelete, ParseMaxDelete),
		RetryWait: read(&c, "retry_wait", j.RetryWait, parseWait),
		Workers:   j.Workers, Retries: j.Retries,
		Excludes: j.Excludes, NoDefaults: j.NoDefaultExcludes, DeleteExcluded: j.DeleteExcluded,
		Checksum: j.Checksum, TrustIndex: j.TrustIndex,
	}
	if j.Retries == 0 {
		m.Retries = -1 // none: the engine's zero value is its default
	}
	if _, err := exclude.Compile(j.Excludes); err != nil {
		c.add("excludes", err.Error())
	}
	if j.Workers < 0 || j.Workers > maxWorkers {
		c.add("workers", fmt.Sprintf("workers are 1 to %d, or 0 to leave it to Hourhand", maxWorkers))
	}
	if j.Limit < 0 {
		c.add("limit", "the limit cannot be negative; 0 is no limit")
	}
	return m, errors.Join(c...)
}

// maxWorkers is where more only costs memory: 32 with a sync each were slower
// than 8 (see the README on speed).
const maxWorkers = 64

// guards is as much of a job's run as the engine needs for the checks before one.
func guards(j store.Job) engine.Mirror {
	return engine.Mirror{Source: j.Source, Dests: []engine.Dest{{Target: j.Target}}, Owner: owner(j)}
}

// owner is what the mark of a job's target says.
func owner(j store.Job) engine.Owner {
	data, _ := json.Marshal(j) // plain fields: cannot fail
	return engine.Owner{JobID: j.ID, Job: data}
}

// complaints collects what is wrong with the fields of a job.
type complaints []error

func (c *complaints) add(field, text string) {
	*c = append(*c, &FieldError{Field: field, Text: text})
}

// read takes over a field's text, or complains.
func read[T any](c *complaints, field, text string, parse func(string) (T, error)) T {
	v, err := parse(text)
	if err != nil {
		c.add(field, err.Error())
	}
	return v
}

func oneOf[T any](words map[string]T) func(string) (T, error) {
	return func(text string) (T, error) {
		v, ok := words[text]
		if !ok {
			known := slices.DeleteFunc(slices.Sorted(maps.Keys(words)), func(w string) bool { return w == "" })
			return v, fmt.Errorf("%q is not one of %s", text, strings.Join(known, ", "))
		}
		return v, nil
	}
}

func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait <= 0 {
		return 0, fmt.Errorf("time before a further try %q cannot be read; write seconds or minutes, as 5s", text)
	}
	return wait, nil
}
