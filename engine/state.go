package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/hourhand/hourhand/engine/tree"
)

// slot names the files of one copy in .hourhand: "00" .. "23", or "mirror".
func slot(hour int) string {
	if hour == OneShot {
		return "mirror"
	}
	return fmt.Sprintf("%02d", hour)
}

// slots are the hours of a target in the order of Hours' result.
func slots() (hours [25]int) {
	for i := range 24 {
		hours[i] = i
	}
	hours[24] = OneShot
	return hours
}

// readState reads an hour's state. No file: the zero State. A damaged file is
// an error; the caller treats the hour as half-way (mixed), never as sealed.
func readState(ownDir *tree.Dir, hour int) (State, error) {
	var st State
	data, err := readSmall(ownDir, slot(hour)+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return State{Hour: hour}, nil
	}
	if err != nil {
		return State{Hour: hour}, err
	}
	if err := json.Unmarshal(data, &st); err != nil {
		return State{Hour: hour}, fmt.Errorf("state of hour %s is damaged: %w", slot(hour), err)
	}
	st.Hour = hour
	return st, nil
}

// writeState replaces an hour's state durably.
func (t *target) writeState(st State) error {
	m := t.mark
	m.Note, st.Mark = "", &m
	data, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	return writeDurable(t.own, slot(st.Hour)+".json", append(data, '\n'))
}

// Hours returns the states of a target's hours, [0] to [23], and of a one-shot
// copy in [24]. An hour that was never written is the zero State; one whose
// state is damaged is Mixed. ErrNoTarget if the folder is missing, ErrForeign if
// its mark is. It may be called while a run works.
func Hours(dir string) ([25]State, error) {
	var all [25]State
	t, err := openMarked(dir)
	if err != nil {
		return all, err
	}
	defer t.close()
	for i, hour := range slots() {
		st, err := readState(t.own, hour)
		if err != nil {
			st = State{Content: Mixed, Hour: hour, Notes: []string{err.Error()}}
		}
		all[i] = st
	}
	return all, nil
}

// openMarked opens a target that must have a mark.
func openMarked(dir string) (*target, error) {
	t, err := openTarget(dir)
	if err != nil {
		return nil, err
	}
	if !t.marked {
		t.close()
		return nil, fmt.Errorf("%w: %s has no mark of Hourhand", ErrForeign, dir)
	}
	return t, nil
}

// ReadTarget reads the mark of a target. ErrNoTarget: no folder; ErrForeign: no mark.
func ReadTarget(dir string) (Target, error) {
	t, err := openMarked(dir)
	if err != nil {
		return Target{}, err
	}
	defer t.close()
	k := t.mark
	return Target{ID: k.ID, JobID: k.JobID, Job: k.Job, Source: k.Source, Machine: k.Machine, Volume: k.Volume}, nil
}

// newestSealed finds the hour that was sealed last. ok false: none is.
func (t *target) newestSealed() (newest State, ok bool) {
	for _, hour := range slots() {
		st, err := readState(t.own, hour)
		if err == nil && st.Content == Sealed && (!ok || st.To.After(newest.To)) {
			newest, ok = st, true
		}
	}
	return newest, ok
}

// Recover sweeps what a crashed run left in .hourhand of a target, under the
// target's lock: staged files go, and last_run of an hour that still says
// "writing" becomes interrupted. It changes no copy. ErrLocked if a run is at work.
func Recover(dir string) error {
	t, err := openMarked(dir)
	if err != nil {
		return err
	}
	defer t.close()
	if err := t.take(); err != nil {
		return err
	}
	if err := t.sweep(); err != nil {
		return err
	}
	for _, hour := range slots() {
		st, err := readState(t.own, hour)
		if err != nil || st.Content != Writing || st.LastRun.Outcome != "" {
			continue
		}
		st.LastRun.Outcome = Interrupted
		if err := t.writeState(st); err != nil {
			return fmt.Errorf("write the state of hour %s in %s: %w", slot(hour), dir, writeError(err))
		}
	}
	return nil
}

// Remark writes the owner's job into the mark of its target, which is made if
// the target is an empty folder: the source and the drives of a job that was
// added or edited. ErrForeign if the target is somebody else's, ErrNoTarget if
// it is missing.
func Remark(dir, source string, o Owner) error {
	m := Mirror{Source: source, Owner: o, Yes: true}
	src, err := openSource(source)
	if err != nil {
		return err
	}
	defer src.close()
	t, err := openTarget(dir)
	if err != nil {
		return err
	}
	defer t.close()
	if err := t.claim(&m, src.path); err != nil {
		return err
	}
	if err := t.take(); err != nil {
		return err
	}
	return t.sign(&m, src.path, src.vol.ID)
}

// DriveOf looks at the file system that holds path, or its nearest existing
// parent.
func DriveOf(path string) (Drive, error) {
	d, err := tree.Open(path)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
		d, err = tree.Open(path)
	}
	if err != nil {
		return Drive{}, fmt.Errorf("look at the drive of %s: %w", path, err)
	}
	defer d.Close()
	v, err := d.Volume()
	if err != nil {
		return Drive{}, fmt.Errorf("look at the drive of %s: %w", path, err)
	}
	return Drive{ID: v.ID, FileSystem: v.FileSystem, Free: v.Free, Total: v.Total, ReadOnly: v.ReadOnly, Network: v.Network, Durable: v.Durable}, nil
}
