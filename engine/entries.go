package engine

import (
	"fmt"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// SealedEntries calls each for every regular file of a sealed hour, sorted by
// path component, and returns the id of the run that sealed it. It stops at the
// first error of each. ErrUsage if the hour is not sealed.
func SealedEntries(d Dest, each func(HourEntry) error) (runID string, err error) {
	t, err := openMarked(d.Target)
	if err != nil {
		return "", err
	}
	defer t.close()
	st, err := readState(t.own, d.Hour)
	if err != nil {
		return "", err
	}
	if st.Content != Sealed {
		return "", fmt.Errorf("%w: hour %s of %s is not sealed", ErrUsage, slot(d.Hour), d.Target)
	}
	f, info, err := t.own.OpenFile(slot(d.Hour) + ".idx")
	if err != nil {
		return "", fmt.Errorf("open the idx of hour %s: %w", slot(d.Hour), err)
	}
	defer f.Close()
	idx, err := index.NewReader(f, info.Size, slot(d.Hour)+".idx")
	if err != nil {
		return "", err
	}
	for l, err := range idx.Walk() {
		if err != nil {
			return "", fmt.Errorf("read the idx of hour %s: %w", slot(d.Hour), err)
		}
		if l.Kind != tree.File {
			continue
		}
		if err := each(HourEntry{Path: l.Path(), Size: l.Size, MTime: l.Source.MTime, Hash: l.Hash}); err != nil {
			return "", err
		}
	}
	return st.RunID, nil
}
