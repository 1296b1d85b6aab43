package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/hourhand/hourhand/engine/tree"
)

// own is the folder at the top of a target that holds all that is ours.
const own = ".hourhand"

// mark is TARGET/.hourhand/target.json: whose the target is.
type mark struct {
	Note         string          `json:"note"`
	ID           string          `json:"id"`
	Volume       string          `json:"volume"`
	Source       string          `json:"source"`
	SourceVolume string          `json:"source_volume"`
	Machine      string          `json:"machine"`
	JobID        string          `json:"job_id,omitempty"`
	Job          json.RawMessage `json:"job,omitempty"`
	Made         time.Time       `json:"made"`
}

const markNote = "Hourhand keeps its copies in this folder. .hourhand holds their proof: do not delete it by itself."

// target is an opened target: the folder, its mark, its lock, what its volume
// can do. Several destinations of a run (the hours of a fill) share one.
type target struct {
	dir    string // as the user wrote it
	root   *tree.Dir
	own    *tree.Dir
	mark   mark
	marked bool
	vol    tree.Volume
	caps   tree.Caps
	lock   *flock.Flock
	syncer *tree.Syncer
	brake  *brake
	taken  bool         // the run takes it over from somebody else
	room   atomic.Int64 // bytes free at the last look, less what was staged since
}

// openTarget opens a target's root and reads its mark. It changes nothing.
// A target that does not exist is ErrNoTarget.
func openTarget(dir string) (*target, error) {
	t := &target{dir: dir}
	if err := t.open(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *target) open() (err error) {
	if t.root, err = openRoot(t.dir, ErrNoTarget); err != nil {
		return err
	}
	if t.vol, err = t.root.Volume(); err != nil {
		return fmt.Errorf("look at the drive of %s: %w", t.dir, err)
	}
	switch t.own, err = t.root.Sub(own); {
	case errors.Is(err, fs.ErrNotExist):
		t.own = nil
		return nil
	case err != nil:
		return fmt.Errorf("%w: %s cannot be opened: %w", ErrForeign, filepath.Join(t.dir, own), err)
	}
	return t.readMark()
}

// openRoot opens a source's or target's folder; what it lacks is the sentinel's
// sentence.
func openRoot(dir string, missing error) (*tree.Dir, error) {
	d, err := tree.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s; is the drive connected?", missing, dir)
	case errors.Is(err, tree.ErrNotFolder):
		return nil, fmt.Errorf("%w: %s is a file, not a folder", missing, dir)
	case err != nil:
		return nil, fmt.Errorf("%w: %s cannot be opened: %w", missing, dir, err)
	}
	return d, nil
}

// readMark reads target.json. A damaged mark is rebuilt in memory from hour
// states that agree; without them the target counts as not marked.
func (t *target) readMark() error {
	data, err := readSmall(t.own, "target.json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the mark of %s: %w", t.dir, err)
	}
	if err == nil && json.Unmarshal(data, &t.mark) == nil && t.mark.ID != "" {
		t.marked = true
		return nil
	}
	t.mark, t.marked = markFromStates(t.own)
	return nil
}

// markFromStates rebuilds a lost mark from the hours' states, if they all name
// the same one.
func markFromStates(ownDir *tree.Dir) (mark, bool) {
	var m mark
	for _, i := range slots() {
		st, err := readState(ownDir, i)
		if err != nil || st.Mark == nil {
			continue
		}
		if m.ID != "" && m.ID != st.Mark.ID {
			return mark{}, false
		}
		m = *st.Mark
	}
	return m, m.ID != ""
}

// claim checks that the target may be used by this run: its mark, or that it is
// empty and can be marked. It changes nothing.
func (t *target) claim(m *Mirror, source string) error {
	if hour, has := t.hourInTheWay(m); has {
		return fmt.Errorf("%w: %s holds the hours of a job (hour %s), and a mirror of the whole folder would put them aside; choose another folder", ErrForeign, t.dir, hour)
	}
	if !t.marked {
		if m.Adopt {
			return nil
		}
		name, err := t.stranger()
		if err != nil {
			return err
		}
		if name != "" {
			return fmt.Errorf("%w: %s is not empty (it holds %q) and has no mark of Hourhand; choose an empty folder, or take it over with --adopt", ErrForeign, t.dir, name)
		}
		return nil
	}
	if why := t.mark.foreign(m, source); why != "" && !m.Adopt {
		return fmt.Errorf("%w: %s %s; choose another folder, or take it over with --adopt", ErrForeign, t.dir, why)
	}
	if m.Yes {
		return nil
	}
	if changed(t.mark.Volume, t.vol.ID) {
		return fmt.Errorf("%w: at %s, where the copies were begun on %s, now is %s; connect the right drive, or approve with --yes", ErrVolume, t.dir, t.mark.Volume, t.vol.ID)
	}
	return nil
}

// hourInTheWay finds an hour that a one-shot mirror onto the target would take
// for files that are not ours. Not even --adopt passes that.
func (t *target) hourInTheWay(m *Mirror) (name string, has bool) {
	oneShot := slices.ContainsFunc(m.Dests, func(d Dest) bool { return d.Target == t.dir && d.Hour == OneShot })
	if !oneShot || t.own == nil {
		return "", false
	}
	for hour := range 24 {
		if st, err := readState(t.own, hour); err != nil || st.Content != Empty {
			return slot(hour), true
		}
	}
	return "", false
}

// foreign tells why a mark belongs to somebody else, "" if it is m's.
func (k *mark) foreign(m *Mirror, source string) string {
	switch {
	case k.Machine != tree.Machine():
		return "belongs to another machine"
	case k.JobID != m.Owner.JobID && k.JobID == "":
		return "holds a one-shot mirror"
	case k.JobID != m.Owner.JobID:
		return "belongs to another job"
	case k.JobID == "" && k.Source != source:
		return "holds the copy of another source, " + k.Source
	}
	return ""
}

// changed tells that two volume ids are known and differ.
func changed(before, now string) bool { return before != "" && now != "" && before != now }

// systemNames are what a fresh drive's root holds by itself; they count as
// nothing. Lower case.
var systemNames = map[string]bool{
	"lost+found": true, "system volume information": true, "$recycle.bin": true,
	".trashes": true, ".fseventsd": true, ".spotlight-v100": true, ".ds_store": true, own: true,
}

// stranger names an entry of an unmarked target that is not the system's, ""
// if there is none.
func (t *target) stranger() (string, error) {
	names, err := t.root.Names()
	if err != nil {
		return "", fmt.Errorf("list %s: %w", t.dir, err)
	}
	for _, n := range names {
		if !systems(n) {
			return n, nil
		}
	}
	return "", nil
}

// systems tells the names that belong to the system or to us at a target's top:
// they are no part of the copy.
func systems(name string) bool {
	low := strings.ToLower(name)
	return systemNames[low] || strings.HasPrefix(low, ".trash-")
}

// take makes .hourhand and locks the target. Only then may anything be changed.
func (t *target) take() (err error) {
	if t.own == nil {
		if err := t.root.Mkdir(own); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make %s: %w", filepath.Join(t.dir, own), writeError(err))
		}
		if t.own, err = t.root.Sub(own); err != nil {
			return err
		}
	}
	if info, err := t.own.Stat("lock"); err == nil && info.Kind != tree.File {
		return fmt.Errorf("%w: %s is a %s where our lock file belongs; remove it", ErrForeign, filepath.Join(t.dir, own, "lock"), kindName(info.Kind))
	}
	l := flock.New(filepath.Join(t.dir, own, "lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err != nil {
		return fmt.Errorf("lock %s: %w", t.dir, writeError(err))
	}
	if !got {
		return fmt.Errorf("%w: %s; wait for the other run or cancel it", ErrLocked, t.dir)
	}
	t.lock = l
	return nil
}

// prepare sweeps what a crashed run left, tries the volume and opens the handle
// for syncs, before the first write.
func (t *target) prepare() error {
	if t.vol.ReadOnly {
		return fmt.Errorf("%w: %s is read-only", ErrLost, t.dir)
	}
	if err := t.sweep(); err != nil {
		return err
	}
	tmp, err := subMake(t.own, "tmp")
	if err != nil {
		return fmt.Errorf("make a staging folder in %s: %w", t.dir, writeError(err))
	}
	defer tmp.Close()
	if t.caps, err = tree.Probe(tmp); err != nil {
		return fmt.Errorf("try the drive of %s: %w", t.dir, writeError(err))
	}
	if t.syncer, err = tree.NewSyncer(t.root, t.vol); err != nil {
		return fmt.Errorf("open %s for syncs: %w", t.dir, err)
	}
	return nil
}

// sweep removes staged files of a run that died. Only a holder of the lock may.
func (t *target) sweep() error {
	switch err := removeAll(t.own, "tmp"); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("remove staged files of an earlier run in %s: %w", t.dir, err)
	}
	return nil
}

// sign writes the mark if it is new or says something else.
func (t *target) sign(m *Mirror, source, sourceVolume string) error {
	k := t.mark
	if t.taken = t.marked && m.Adopt && k.foreign(m, source) != ""; !t.marked || t.taken {
		k = mark{ID: newID(), Made: time.Now().UTC()}
	}
	k.Note, k.Source, k.SourceVolume, k.Volume = markNote, source, sourceVolume, t.vol.ID
	k.Machine, k.JobID, k.Job = tree.Machine(), m.Owner.JobID, m.Owner.Job
	old, _ := json.Marshal(t.mark)
	now, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return fmt.Errorf("the job cannot be written into the mark: %w", err)
	}
	if same, _ := json.Marshal(k); t.marked && string(old) == string(same) {
		return nil
	}
	if err := writeDurable(t.own, "target.json", now); err != nil {
		return fmt.Errorf("mark %s as ours: %w", t.dir, writeError(err))
	}
	t.mark, t.marked = k, true
	return nil
}

// still checks that the volume and the mark are those of the start: not
// unplugged, not mounted over.
func (t *target) still() error {
	now, err := openTarget(t.dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	defer now.close()
	a, err := t.root.Info()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	b, err := now.root.Info()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	if a.Dev != b.Dev || a.Ino != b.Ino || now.mark.ID != t.mark.ID || now.vol.ReadOnly {
		return fmt.Errorf("%w: %s is no longer the folder or drive that the run began with", ErrLost, t.dir)
	}
	return nil
}

func (t *target) close() {
	if t.syncer != nil {
		t.syncer.Close()
	}
	if t.brake != nil {
		t.brake.close()
	}
	if t.lock != nil {
		t.lock.Unlock()
	}
	if t.own != nil {
		t.own.Close()
	}
	if t.root != nil {
		t.root.Close()
	}
}
