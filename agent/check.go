package agent

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// FieldError is a job's field that cannot be accepted, with the sentence for
// the form.
type FieldError struct {
	Field string // as in the JSON of store.Job: "name", "source", "target", "schedule", ...
	Text  string
	Cause string // one of the Cause constants if a guard says it, else ""
}

func (e *FieldError) Error() string { return e.Text }

// FieldErrors lists the field errors in an error of SaveJob.
func FieldErrors(err error) []*FieldError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*FieldError
		for _, e := range joined.Unwrap() {
			all = append(all, FieldErrors(e)...)
		}
		return all
	}
	if e, ok := errors.AsType[*FieldError](err); ok {
		return []*FieldError{e}
	}
	return nil
}

// checkJob tells all that is wrong with a job. The folders are looked at if they
// are new: an edit of the schedule must not need the drive.
func (a *Agent) checkJob(j store.Job, moved, adopt bool) error {
	var c complaints
	if j.Name == "" {
		c.add("name", "the job needs a name")
	}
	read(&c, "schedule", j.Schedule, ParseSchedule)
	_, err := Settings(j)
	err = errors.Join(errors.Join(c...), err)
	if !moved {
		return err
	}
	return errors.Join(err, a.checkFolders(j, adopt))
}

// checkFolders tells what is wrong with a job's source and target.
func (a *Agent) checkFolders(j store.Job, adopt bool) error {
	var c complaints
	for _, f := range []struct{ field, path string }{{"source", j.Source}, {"target", j.Target}} {
		if !filepath.IsAbs(f.path) {
			c.add(f.field, fmt.Sprintf("write the whole path of the %s folder, from its drive or root on", f.field))
		}
	}
	if c != nil {
		return errors.Join(c...)
	}
	if err := a.checkNeighbours(j); err != nil {
		return err
	}
	m := guards(j)
	m.MakeDest, m.Adopt, m.Yes = true, adopt, true
	return onField(a.engine.check(m))
}

// checkNeighbours keeps a target out of other jobs' targets, and them out of it:
// what one writes the other would take for somebody else's files.
func (a *Agent) checkNeighbours(j store.Job) error {
	jobs, err := a.config.Store.Jobs()
	if err != nil {
		return err
	}
	for _, other := range jobs {
		if other.ID != j.ID && (inside(j.Target, other.Target) || inside(other.Target, j.Target)) {
			return &FieldError{Field: "target", Cause: CauseOverlap, Text: fmt.Sprintf("the target and that of the job %q, %s, lie one inside the other; choose a folder beside it", other.Name, other.Target)}
		}
	}
	return nil
}

// inside tells whether a path lies below a folder, as far as names tell.
func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// onField puts an error of the engine beside the field that it is about.
func onField(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrNoSource):
		return &FieldError{Field: "source", Text: err.Error(), Cause: causeOf(err)}
	case errors.Is(err, engine.ErrUsage):
		return err
	}
	return &FieldError{Field: "target", Text: err.Error(), Cause: causeOf(err)}
}
