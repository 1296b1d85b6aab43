package tree

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Caps is what a volume can hold, found by trying it in a scratch folder.
type Caps struct {
	Links     bool // symbolic links
	HardLinks bool
	Owner     bool  // chown works for these rights
	Modes     bool  // permission bits are kept
	Xattrs    bool  // user xattrs are kept
	FoldsCase bool  // "a" and "A" are one name
	Lowers    bool  // names are listed in lower case, however they were made
	FoldsForm bool  // NFC and NFD of one name are one name
	Grain     int64 // of mtimes, ns; 1 = exact
	Inline    bool  // small files live in the inode: cannot be read past the cache
}

// Probe tries a volume in folder d, which is ours, and leaves nothing behind. It
// costs some milliseconds, for the sync of one small file.
func Probe(d *Dir) (c Caps, err error) {
	scratch := ".hh~probe-" + rand.Text()
	if err := d.Mkdir(scratch); err != nil {
		return Caps{}, fmt.Errorf("try what the file system can hold: %w", err)
	}
	defer func() { err = errors.Join(err, d.Rmdir(scratch)) }()
	in, err := d.Sub(scratch)
	if err != nil {
		return Caps{}, err
	}
	defer in.Close()
	defer func() { err = errors.Join(err, removeAll(in)) }()
	return probe(in)
}

func probe(d *Dir) (c Caps, err error) {
	f, err := d.Create("probe")
	if err != nil {
		return Caps{}, err
	}
	defer f.Close()
	c.FoldsCase = exists(d, "PROBE")
	c.Lowers = c.FoldsCase && lowers(d)
	c.FoldsForm = foldsForm(d)
	c.Links = d.Symlink("probe", "link", false) == nil
	c.HardLinks = d.Link("probe", d, "second") == nil
	if _, err := f.WriteString("small"); err != nil {
		return Caps{}, err
	}
	v, err := d.Volume()
	if err != nil {
		return Caps{}, err
	}
	if c.Inline, err = probeInline(f, v); err != nil {
		return Caps{}, err
	}
	c.Grain = probeGrain(f)
	c.Modes, c.Xattrs, c.Owner = probeMeta(handle(f.Fd()))
	return c, nil
}

// foldsForm is false where such names cannot be had at all.
func foldsForm(d *Dir) bool {
	f, err := d.Create("\u00e9") // é in NFC
	if err != nil {
		return false
	}
	f.Close()
	return exists(d, "e\u0301") // in NFD
}

// lowers is true of lowntfs-3g with ignore_case.
func lowers(d *Dir) bool {
	f, err := d.Create("Upper")
	if err != nil {
		return false
	}
	f.Close()
	names, err := d.Names()
	return err == nil && !slices.Contains(names, "Upper")
}

func exists(d *Dir, name string) bool {
	_, err := d.Stat(name)
	return err == nil
}

// probeGrain sets times that no coarser grain than their own can hold. FAT keeps
// 2 s, exFAT 10 ms or (by FUSE) 1 s, NTFS 100 ns, HFS+ 1 s.
func probeGrain(f *os.File) int64 {
	const (
		odd  = 1_500_000_001_987_654_321 // an odd second, no digit of the fraction zero
		even = 1_500_000_002_123_456_789
	)
	worst := int64(1)
	for _, want := range []int64{odd, even} {
		if setTime(handle(f.Fd()), want) != nil {
			return 2e9
		}
		in, err := FileInfo(f)
		if err != nil {
			return 2e9
		}
		worst = max(worst, grainOf(want, in.MTime))
	}
	return worst
}

func grainOf(want, got int64) int64 {
	for _, grain := range []int64{1, 100, 1e3, 1e6, 1e7, 1e9, 2e9} {
		if want == got || got%grain == 0 && sameTime(want, got, grain) {
			return grain
		}
	}
	return 2e9
}

func removeAll(d *Dir) error {
	names, err := d.Names()
	for _, name := range names {
		err = errors.Join(err, d.Remove(name))
	}
	return err
}
