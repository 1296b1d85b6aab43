package engine

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/tree"
)

// heal replaces a rotten file by good bytes: the source's, if its stat is that
// of the copy's reading, else a sibling hour's. Only bytes with the manifest's
// hash count as good. false: nobody has them, and nothing was changed.
func (a *audit) heal(ctx context.Context, x expected, now tree.Info) bool {
	if a.healFromSource(ctx, x, now) {
		return true
	}
	for _, hour := range slots() {
		if hour == a.d.Hour || ctx.Err() != nil {
			continue
		}
		if a.healFromHour(ctx, x, now, hour) {
			return true
		}
	}
	return false
}

func (a *audit) healFromSource(ctx context.Context, x expected, now tree.Info) bool {
	if a.from == nil || x.entry.Kind != tree.File {
		return false
	}
	f, info, err := openAt(a.from, x.path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info.Size != x.entry.Size || !sameStamp(stamp(info), x.entry.Source, a.src.vol.StableIDs) {
		return false
	}
	return a.replace(ctx, x, now, f) == nil
}

func (a *audit) healFromHour(ctx context.Context, x expected, now tree.Info, hour int) bool {
	st, err := readState(a.d.own, hour)
	if err != nil || st.Content != Sealed {
		return false
	}
	s := &dest{Dest: Dest{a.h.Target, hour}, slot: slot(hour), target: a.d.target}
	root, err := s.openCopy()
	if err != nil || root == nil {
		return false
	}
	at := newFolders(root, 4)
	defer at.close()
	f, _, err := openAt(at, x.path)
	if err != nil {
		return false
	}
	defer f.Close()
	return a.replace(ctx, x, now, f) == nil
}

var errNotGood = errors.New("not the bytes that were sealed")

// replace stages the bytes of good under the rotten file's metadata, proves them
// and puts them in its place.
func (a *audit) replace(ctx context.Context, x expected, now tree.Info, good *os.File) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.d
	if d.stage == nil {
		var err error
		if d.stage, err = openStaging(d.own, d.slot); err != nil {
			return err
		}
	}
	const temp = "healed"
	f, err := d.stage.of(temp).Create(temp)
	if err != nil {
		return err
	}
	defer f.Close()
	err = a.fill(ctx, f, good, x)
	if err == nil {
		err = a.dress(f, x, now)
	}
	if err == nil {
		err = a.swapIn(ctx, f, x, now, temp)
	}
	if err != nil {
		d.stage.of(temp).Remove(temp)
	}
	return err
}

// fill copies good's bytes and refuses any others than those that were sealed.
func (a *audit) fill(ctx context.Context, f, good *os.File, x expected) error {
	h := xxh3.New()
	at := int64(0)
	_, err := tree.ReadBack(good, a.d.vol, a.d.caps, around(ctx, a.h.Gate, nil), func(p []byte) error {
		h.Write(p)
		n, err := f.WriteAt(p, at)
		at += int64(n)
		return err
	})
	if err != nil {
		return err
	}
	if h.Sum128().Bytes() != x.hash {
		return errNotGood
	}
	return nil
}

// dress gives the new file the metadata of the rotten one: those were right.
func (a *audit) dress(f *os.File, x expected, now tree.Info) error {
	rotten, _, err := openAt(a.d.folders, x.path)
	if err != nil {
		return err
	}
	defer rotten.Close()
	_, err = tree.SetFile(f, rotten, now)
	return err
}

// swapIn makes the new file durable, reads it back and renames it.
func (a *audit) swapIn(ctx context.Context, f *os.File, x expected, now tree.Info, temp string) error {
	d := a.d
	if err := d.syncer.Sync(ctx, []*os.File{f}, nil); err != nil {
		return lostError(writeError(err))
	}
	hash, past, err := d.readBack(f, around(ctx, nil, nil))
	if err != nil {
		return err
	}
	if hash != x.hash {
		return fmt.Errorf("%w while healing %s", ErrMismatch, x.path)
	}
	dir, name := split(x.path)
	in, done, err := d.folders.get(dir)
	if err != nil {
		return err
	}
	defer done()
	folder, err := in.Info()
	if err != nil {
		return err
	}
	if !sameStamp(stamp(now), x.entry.Target, d.vol.StableIDs) {
		// somebody wrote there and set the time back: rot, or an edit in disguise
		if err := d.putAside(in, name, x.path); err != nil {
			return err
		}
	}
	if err := d.stage.of(temp).Rename(temp, in, name); err != nil {
		return err
	}
	if _, err := tree.SetFolder(in, in, folder); err != nil { // its times are sealed too
		return err
	}
	if err := d.syncer.Sync(ctx, []*os.File{f}, []*tree.Dir{in}); err != nil {
		return lostError(writeError(err))
	}
	healed, err := tree.FileInfo(f)
	if err != nil {
		return err
	}
	e := x.entry
	e.Kind, e.Size, e.Hash, e.Target = tree.File, healed.Size, x.hash, stamp(healed)
	e.How, e.Proved = d.proved(past), a.out.Started.Unix()
	return d.record(x.path, e)
}
