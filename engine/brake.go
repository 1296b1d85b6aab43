package engine

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// brake holds a run of a target that would remove or replace too much. It
// compares the source with the newest sealed hour, not with the hour that is
// overwritten: that one is a day old, and a day's work is no accident.
type brake struct {
	ref     *index.Reader // of the newest sealed hour; nil: nothing to lose yet
	refFile *os.File
	against string
	of      int64 // files of that hour
	passed  []uint64
	items   *index.Sorter // what would go or change, by path

	gone, changed   counter
	beyond          atomic.Int64 // of both, what no approved plan lists
	beyondChanged   atomic.Int64
	unsure          atomic.Bool // a block of that idx cannot be read
	lostTop         atomic.Pointer[string]
	blind           bool // there was a sealed hour, and its idx cannot be read
	holdReplacement bool
	holdRemoval     bool
	reason          string
	plan            *Plan
	judged          bool // the guard has spoken
}

// freely is how many files may be replaced or removed before anybody asks: below
// it, a mass change is no mass. It is also how many replacements do not wait for
// the end of the scan.
const freely = 50

// share of the newest sealed hour's files above which a change is held.
const share = 0.25

type counter struct{ files, bytes atomic.Int64 }

func (c *counter) add(n int64) {
	c.files.Add(1)
	c.bytes.Add(n)
}

func (c *counter) count() Count { return Count{c.files.Load(), c.bytes.Load()} }

// openBrake opens what the guard compares with: the idx of the newest hour that
// was sealed, also of one that a later run left half-way. Where hours were sealed
// and none can be opened, nothing is removed on a guess.
// Mode changes removes nothing that the source lacks: there is nothing to guard.
func (t *target) openBrake(m *Mirror) (err error) {
	scratch, plan := m.Scratch, m.Plan
	b := &brake{items: index.NewSorter(scratch)}
	t.brake = b
	if t.own == nil || m.Mode == ModeChanges {
		return nil
	}
	for _, ref := range t.references() {
		b.blind = true
		if b.ref, b.refFile = t.openReference(ref.file); b.ref == nil {
			b.ref, b.refFile = t.listedReference(strings.TrimSuffix(ref.file, ".idx"), scratch)
		}
		if b.ref != nil {
			b.against, b.of, b.blind = slot(ref.hour), ref.files, false
			break
		}
	}
	if plan != "" {
		b.passed, err = t.readPlan(plan)
	}
	return err
}

// reference is an idx that the guard may compare with.
type reference struct {
	hour  int
	file  string
	files int64
	to    time.Time
}

// references lists them, newest first.
func (t *target) references() []reference {
	var all []reference
	for _, hour := range slots() {
		st, err := readState(t.own, hour)
		if err != nil || st.Seals == 0 {
			continue
		}
		file := slot(hour) + ".idx"
		if st.Content != Sealed {
			file = slot(hour) + ".was.idx"
		}
		all = append(all, reference{hour, file, st.Files.Files, st.To})
	}
	slices.SortStableFunc(all, func(a, b reference) int { return b.to.Compare(a.to) })
	return all
}

// openReference opens an idx; nil if it is missing or damaged.
func (t *target) openReference(name string) (*index.Reader, *os.File) {
	f, info, err := t.own.OpenFile(name)
	if err != nil {
		return nil, nil
	}
	r, err := index.NewReader(f, info.Size, name)
	if err != nil {
		f.Close()
		return nil, nil
	}
	return r, f
}

// listedReference makes an idx of a manifest in place of one that is lost: it
// tells what is gone, not what changed. nil: the manifest is lost too.
func (t *target) listedReference(name, scratch string) (*index.Reader, *os.File) {
	m, err := openManifest(t.own, name)
	if err != nil {
		return nil, nil
	}
	defer m.close()
	list := index.NewChanges(scratch)
	defer list.Close()
	last := ""
	for line, err := range m.lines() {
		if err != nil {
			return nil, nil
		}
		ch := partial(line)
		for dir := ch.Dir; dir != "" && dir != last; dir = parent(dir) {
			up, name := split(dir)
			if list.Add(index.Change{Located: index.Located{Dir: up, Entry: index.Entry{Name: name, Kind: tree.Folder}}}) != nil {
				return nil, nil
			}
		}
		last = ch.Dir
		if list.Add(ch) != nil {
			return nil, nil
		}
	}
	f, r, err := scratchIndex(scratch, list, nil)
	if err != nil {
		return nil, nil
	}
	return r, f
}

func (b *brake) close() {
	b.items.Close()
	b.release()
}

// release closes the idx of the newest sealed hour. The guard has spoken by then.
func (b *brake) release() {
	if b != nil && b.refFile != nil {
		b.refFile.Close()
		b.refFile = nil
	}
}

// openReferences opens the folder in the newest sealed hour of each target.
func (v *visit) openReferences() {
	v.refs = make([]*index.Folder, len(v.targets))
	if v.source != there || v.only != "" {
		return
	}
	for i, t := range v.targets {
		if t.brake.ref == nil {
			continue
		}
		var err error
		if v.refs[i], err = t.brake.ref.Folder(v.path); err != nil {
			t.brake.unsure.Store(true)
		}
	}
}

// referenceFile compares a file of the source with the newest sealed hour.
func (v *visit) referenceFile(path, name string, info tree.Info) {
	for i, f := range v.refs {
		if f == nil {
			continue
		}
		e, b := f.Find(name), v.targets[i].brake
		switch {
		case e == nil:
		case e.Kind == tree.Folder:
			b.goneBelow(path)
		case e.Kind == tree.Link && info.Kind == tree.Link:
		case info.Kind != e.Kind || e.Flags&index.Partial == 0 && (e.Size != info.Size || e.Source.MTime != info.MTime):
			b.change(path, e.Size)
		}
	}
}

// referenceFolder tells the brakes that a file became a folder.
func (v *visit) referenceFolder(name string) {
	for i, f := range v.refs {
		if f == nil {
			continue
		}
		if e := f.Find(name); e != nil && e.Kind != tree.Folder {
			v.targets[i].brake.lose(join(v.path, name), e.Size)
		}
	}
}

// judgeReferences finds what the newest sealed hour has and the source has not.
func (v *visit) judgeReferences() {
	for i, f := range v.refs {
		if f == nil {
			continue
		}
		b, spelled := v.targets[i].brake, v.folded(v.targets[i].caps)
		for e := range f.All() {
			path := join(v.path, e.Name)
			if v.marked(e.Name, kept) || spelled[tree.Fold(e.Name, v.targets[i].caps)] {
				continue
			}
			if isOut, _ := v.rules.Out(path, e.Kind == tree.Folder); isOut && !v.m.DeleteExcluded {
				continue
			}
			switch e.Kind {
			case tree.File, tree.Link:
				b.lose(path, e.Size)
			case tree.Folder:
				before := b.beyond.Load()
				b.goneBelow(path)
				if v.path == "" && b.beyond.Load() > before {
					lost := e.Name
					b.lostTop.Store(&lost)
				}
			}
		}
	}
}

// folded are the names of the source as a volume that folds them sees them: a
// name in another case is not gone. nil: the volume does not fold.
func (v *visit) folded(c tree.Caps) map[string]bool {
	if !c.FoldsCase && !c.FoldsForm {
		return nil
	}
	names := map[string]bool{}
	for _, n := range v.names.All() {
		names[tree.Fold(n, c)] = true
	}
	return names
}

// goneBelow counts all files of the newest sealed hour below a folder as gone.
func (b *brake) goneBelow(dir string) {
	for stack := []string{dir}; len(stack) > 0; {
		dir := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		f, err := b.ref.Folder(dir)
		if err != nil {
			b.unsure.Store(true)
			continue
		}
		for e := range f.All() {
			switch e.Kind {
			case tree.File, tree.Link:
				b.lose(join(dir, e.Name), e.Size)
			case tree.Folder:
				stack = append(stack, join(dir, e.Name))
			}
		}
		if f.Err() != nil {
			b.unsure.Store(true)
		}
	}
}

func (b *brake) lose(path string, size int64) {
	b.gone.add(size)
	if !b.approved('-', path) {
		b.beyond.Add(1)
	}
	b.list('-', path, size)
}

// change counts a file whose contents differ from the newest sealed hour's.
func (b *brake) change(path string, size int64) {
	b.changed.add(size)
	if !b.approved('~', path) {
		b.beyond.Add(1)
		b.beyondChanged.Add(1)
	}
	b.list('~', path, size)
}

func (b *brake) list(op byte, path string, size int64) {
	b.items.Add([]byte(path), binary.AppendVarint([]byte{op}, size)) // its error is told by Sorted's Err, when a plan is made
}

func (b *brake) approved(op byte, path string) bool {
	if len(b.passed) == 0 {
		return false
	}
	_, ok := slices.BinarySearch(b.passed, planKey(op, path))
	return ok
}

func planKey(op byte, path string) uint64 { return xxh3.HashString(string(op) + path) }

// judge decides, after the scan, whether replacements and removals may go on.
// seen is how many files the source has.
func (b *brake) judge(m *Mirror, seen int64) {
	b.judged = true
	if m.Yes {
		return
	}
	if b.blind || b.unsure.Load() {
		b.holdRemoval, b.holdReplacement = true, b.blind
		b.reason = "the index of the newest copy cannot be read, so nobody can tell what would be lost; everything new was copied, nothing was removed. Run verify, then approve with --yes"
		return
	}
	if b.ref == nil {
		return
	}
	beyond := b.beyond.Load()
	limit := m.MaxDelete.limit(b.of)
	switch {
	case beyond == 0:
		return
	case b.beyondChanged.Load() > limit:
		b.holdReplacement, b.holdRemoval = true, true
		b.reason = fmt.Sprintf("%d of %d files would be replaced and %d removed; everything new was copied, nothing was replaced beyond the first %d or removed", b.changed.files.Load(), b.of, b.gone.files.Load(), freely)
	case seen == 0:
		b.holdRemoval = true
		b.reason = fmt.Sprintf("the source is empty, and the newest copy (hour %s) has %d files; nothing was removed", b.against, b.of)
	case b.lostTop.Load() != nil:
		b.holdRemoval = true
		b.reason = fmt.Sprintf("the folder %q is gone from the source, and the newest copy (hour %s) has files in it; nothing was removed", *b.lostTop.Load(), b.against)
	case beyond > limit:
		b.holdRemoval = true
		b.reason = fmt.Sprintf("%d of %d files would be removed and %d replaced; everything new was copied, nothing was removed", b.gone.files.Load(), b.of, b.changed.files.Load())
	}
}

// limit is how many files of n may be removed or replaced.
func (x MaxDelete) limit(n int64) int64 {
	if !x.Set {
		return max(freely, int64(share*float64(n)))
	}
	if x.Percent > 0 {
		return int64(x.Percent / 100 * float64(n))
	}
	return int64(x.Files)
}

// planLine is one line of the plan file.
type planLine struct {
	Op    string `json:"op"`
	Path  string `json:"path,omitempty"`
	Raw   string `json:"raw,omitempty"` // base64 of a path that is not valid UTF-8
	Bytes int64  `json:"bytes"`
}

func (l planLine) path() string {
	if l.Raw != "" {
		raw, _ := base64.StdEncoding.DecodeString(l.Raw)
		return string(raw)
	}
	return l.Path
}

// planFile is where a held run leaves what it would do, for an approval.
const planFile = "plan.jsonl"

// writePlan stores what was held in TARGET/.hourhand/plan.jsonl and returns its
// summary. The id is the hash of the list: it approves exactly this one.
func (t *target) writePlan() (*Plan, error) {
	b := t.brake
	p := &Plan{Reason: b.reason, Against: b.against, Replace: b.changed.count(), Remove: b.gone.count(), Of: b.of}
	h := xxh3.New()
	err := replaceDurable(t.own, planFile, func(f *os.File) error {
		w := bufio.NewWriter(f)
		enc := json.NewEncoder(w)
		for path, v := range b.items.Sorted() {
			size, _ := binary.Varint(v[1:])
			line := planLine{Op: string(v[:1]), Path: string(path), Bytes: size}
			if !utf8.Valid(path) {
				line.Path, line.Raw = "", base64.StdEncoding.EncodeToString(path)
			}
			h.Write(v[:1])
			h.Write(path)
			h.Write([]byte{0})
			if len(p.Sample) < MaxProblems {
				p.Sample = append(p.Sample, planItem(v[0], string(path), size))
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
		return errors.Join(b.items.Err(), w.Flush())
	})
	if err != nil {
		return nil, fmt.Errorf("store the plan that waits for approval: %w", writeError(err))
	}
	p.ID = fmt.Sprintf("%016x", h.Sum64())
	return p, nil
}

func planItem(op byte, path string, size int64) Item {
	if op == '-' {
		return Item{Op: "remove", Path: path, Bytes: size, Reason: "not in the source"}
	}
	return Item{Op: "replace", Path: path, Bytes: size, Reason: "changed in the source"}
}

// readPlan reads an approved plan as sorted keys. A plan with another id, or
// none, passes nothing: what is held then is shown anew.
func (t *target) readPlan(id string) ([]uint64, error) {
	f, _, err := t.own.OpenFile(planFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the approved plan: %w", err)
	}
	defer f.Close()
	var keys []uint64
	h := xxh3.New()
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var l planLine
		if err := dec.Decode(&l); err != nil || len(l.Op) != 1 {
			return nil, fmt.Errorf("the plan in %s is damaged; run again to see a new one", t.dir)
		}
		path := l.path()
		h.WriteString(l.Op + path + "\x00")
		keys = append(keys, planKey(l.Op[0], path))
	}
	if fmt.Sprintf("%016x", h.Sum64()) != id {
		return nil, nil
	}
	slices.Sort(keys)
	return keys, nil
}
