package engine

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/manifest"
	"github.com/hourhand/hourhand/engine/tree"
)

// seal ends the work on a copy whose every step succeeded: folder metadata,
// barrier, manifest and idx, then the state, in a later sync than what it
// claims, then the leftovers of the run go.
func (r *run) seal(ctx context.Context, d *dest) error {
	if d.brake.holdReplacement || d.brake.holdRemoval {
		return nil // conclude leaves the state of a held run
	}
	if err := r.setFolders(d); err != nil {
		return err
	}
	if d.begun.Load() {
		if err := r.barrier(ctx, d); err != nil {
			return err
		}
	}
	if err := r.stillThere(d); err != nil {
		return err
	}
	if err := errors.Join(ctx.Err(), d.accounted()); err != nil {
		return err
	}
	st := r.sealedState(d)
	if err := errors.Join(r.m.step("proofs", d.slot), r.proofs(d, &st)); err != nil {
		return err
	}
	if err := r.m.step("state", d.slot); err != nil {
		return err
	}
	if err := d.writeState(st); err != nil {
		return fmt.Errorf("seal hour %s: %w", d.slot, writeError(err))
	}
	d.report.Sealed = true
	if err := r.m.step("sweep", d.slot); err != nil {
		return err
	}
	d.sweepUnsealed()
	if d.seenFirst {
		return d.seen.save(d.own)
	}
	return nil
}

// accounted checks that every file of the source was copied, found equal, or is
// a problem: success is a proven count.
func (d *dest) accounted() error {
	if seen, settled := d.seenN.Load(), d.settledN.Load(); seen != settled {
		return fmt.Errorf("the count does not come out: %d files seen, %d accounted for; nothing is sealed. Please report this", seen, settled)
	}
	return nil
}

// sealedState is the state that a complete run leaves, without what manifest and
// idx say.
func (r *run) sealedState(d *dest) State {
	st := d.before
	st.Content, st.Hour, st.RunID = Sealed, d.Hour, r.m.RunID
	st.From, st.To, st.Due = r.started.UTC(), r.lastRead(), r.m.Due.UTC()
	if r.m.Due.IsZero() {
		st.Due = time.Time{}
	}
	st.Seals++
	st.Problems = d.report.ProblemCount
	st.Notes = d.report.Notes
	outcome := Done
	if d.report.ProblemCount > 0 {
		outcome = Partial
	}
	st.LastRun = LastRun{ID: r.m.RunID, Outcome: outcome, Started: r.started.UTC(), Ended: time.Now().UTC(), Problems: d.report.ProblemCount}
	return st
}

// lastRead is when the source was read to the end.
func (r *run) lastRead() time.Time {
	if ns := r.read.Load(); ns > 0 {
		return time.Unix(0, ns).UTC()
	}
	return time.Now().UTC()
}

// proofs writes the manifest and the idx that the state is going to claim. A run
// that changed nothing writes neither.
func (r *run) proofs(d *dest, st *State) error {
	if d.before.Content == Sealed && !d.begun.Load() && d.changes.Len() == 0 {
		return nil
	}
	if d.before.Content != Sealed {
		if err := r.begin(d); err != nil {
			return err
		}
	}
	idx, err := d.writeIndex(st, true)
	if err != nil {
		return fmt.Errorf("write the idx of hour %s: %w", d.slot, writeError(err))
	}
	defer idx.close()
	if d.begun.Load() {
		if err := d.writeManifest(idx.reader, st); err != nil {
			return fmt.Errorf("write the manifest of hour %s: %w", d.slot, writeError(err))
		}
	}
	return writeError(d.installIndex(idx))
}

// installIndex gives a written idx its name. Windows renames over no file that
// is open, so all readers of old ones are closed first: nobody asks them again.
func (d *dest) installIndex(idx *indexFile) error {
	idx.close()
	d.closeOld()
	d.brake.release()
	if err := d.own.Rename(d.slot+".idx~", d.own, d.slot+".idx"); err != nil {
		return err
	}
	return syncFolder(d.own)
}

// indexFile is an idx that was just written.
type indexFile struct {
	f      *os.File
	reader *index.Reader
}

func (x *indexFile) close() { x.f.Close() }

// writeIndex writes HH.idx~: the old idx with the run's changes, and counts what
// it holds into the state. whole: see mergeIndex.
func (d *dest) writeIndex(st *State, whole bool) (*indexFile, error) {
	st.Files, st.Verified, st.Oldest = Count{}, Verified{}, time.Time{}
	d.merged = true
	h := xxh3.New()
	err := stageDurable(d.own, d.slot+".idx", func(f *os.File) error {
		return mergeIndex(io.MultiWriter(f, h), d.changes, d.old, whole, st.tally)
	})
	if err != nil {
		return nil, err
	}
	sum := h.Sum128().Bytes()
	st.Index = hex.EncodeToString(sum[:])
	f, info, err := d.own.OpenFile(d.slot + ".idx~")
	if err != nil {
		return nil, err
	}
	reader, err := index.NewReader(f, info.Size, d.slot+".idx")
	if err != nil {
		f.Close()
		return nil, err
	}
	return &indexFile{f, reader}, nil
}

// mergeIndex writes an idx of the changes merged with old (nil: nothing), and
// shows each of its entries to each. whole: every folder has its own entry, so
// what lies in one that has none is not there.
func mergeIndex(to io.Writer, changes *index.Changes, old *index.Reader, whole bool, each func(*index.Entry)) error {
	buf := bufio.NewWriterSize(to, 1<<20)
	w := index.NewWriter(buf, index.Header{})
	folders := map[uint64]bool{xxh3.HashString(""): true}
	for l, err := range changes.Merge(old) {
		if err != nil {
			return err
		}
		if !folders[xxh3.HashString(l.Dir)] && whole {
			continue // an interrupted run announced it, and its folder is gone
		}
		if l.Kind == tree.Folder {
			folders[xxh3.HashString(l.Path())] = true
		}
		each(&l.Entry)
		if err := w.Add(l.Dir, l.Entry); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return buf.Flush()
}

// tally counts an entry into what a state says of its files.
func (st *State) tally(e *index.Entry) {
	if e.Kind != tree.File {
		return
	}
	add := func(c *Count) {
		c.Files++
		c.Bytes += e.Size
	}
	add(&st.Files)
	switch e.How {
	case index.Device, index.Clone:
		add(&st.Verified.Device)
	case index.Cache:
		add(&st.Verified.Cache)
	case index.Server:
		add(&st.Verified.Server)
	case index.Source:
		add(&st.Verified.Source)
		return
	default:
		return
	}
	if at := time.Unix(e.Proved, 0).UTC(); st.Oldest.IsZero() || at.Before(st.Oldest) {
		st.Oldest = at
	}
}

// savedManifest is an opened HH.xxh128 with its HH.names.
type savedManifest struct{ main, names *os.File }

// openManifest opens a manifest; names is nil if there are none.
func openManifest(ownDir *tree.Dir, name string) (m savedManifest, err error) {
	if m.main, _, err = ownDir.OpenFile(name + ".xxh128"); err != nil {
		return m, err
	}
	m.names, _, err = ownDir.OpenFile(name + ".names")
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		m.main.Close()
	}
	return m, err
}

// namesReader is names as a Reader that is nil where there is no file.
func (m savedManifest) namesReader() io.Reader {
	if m.names == nil {
		return nil
	}
	return m.names
}

func (m savedManifest) lines() iter.Seq2[manifest.Line, error] {
	return manifest.Read(m.main, m.namesReader())
}

// rewind goes back to the start, to read again.
func (m savedManifest) rewind() error {
	_, err := m.main.Seek(0, io.SeekStart)
	if err == nil && m.names != nil {
		_, err = m.names.Seek(0, io.SeekStart)
	}
	return err
}

func (m savedManifest) close() {
	m.main.Close()
	if m.names != nil {
		m.names.Close()
	}
}

// writeManifest writes HH.xxh128 and, only if there are names with line breaks,
// HH.names.
func (d *dest) writeManifest(idx *index.Reader, st *State) error {
	var sum manifest.Hash
	var odd int64
	err := stageDurable(d.own, d.slot+".names", func(names *os.File) error {
		return stageDurable(d.own, d.slot+".xxh128", func(main *os.File) (err error) {
			sum, odd, err = listFiles(idx, main, names)
			return err
		})
	})
	if err != nil {
		return err
	}
	st.Manifest = sum.String()
	if odd == 0 {
		err = d.own.Remove(d.slot + ".names~")
	} else {
		err = d.own.Rename(d.slot+".names~", d.own, d.slot+".names")
	}
	if err != nil {
		return err
	}
	return d.own.Rename(d.slot+".xxh128~", d.own, d.slot+".xxh128")
}

func listFiles(idx *index.Reader, main, names io.Writer) (sum manifest.Hash, odd int64, err error) {
	a, b := bufio.NewWriterSize(main, 1<<20), bufio.NewWriter(names)
	w := manifest.NewWriter(a, b)
	for l, err := range idx.Walk() {
		if err != nil {
			return sum, 0, err
		}
		if l.Kind != tree.File {
			continue
		}
		if err := w.Add(l.Path(), l.Hash); err != nil {
			return sum, 0, err
		}
	}
	sum, _, odd, err = w.Close()
	return sum, odd, errors.Join(err, a.Flush(), b.Flush())
}

// sweepUnsealed removes what only an unsealed hour needs. It need not be
// durable: the state no longer asks for it.
func (d *dest) sweepUnsealed() {
	for _, ext := range []string{".next", ".was.xxh128", ".was.names", ".was.idx"} {
		if err := d.own.Remove(d.slot + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.note("%s%s could not be removed: %v", d.slot, ext, err)
		}
	}
}
