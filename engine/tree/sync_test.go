package tree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

func TestSyncTakesFilesAndFolders(t *testing.T) {
	d, _ := openTemp(t)
	v, err := d.Volume()
	must(t, err)
	for way, group := range []bool{v.GroupSync, false} {
		v.GroupSync = group
		s, err := NewSyncer(d, v)
		must(t, err)
		defer s.Close()
		var files []*os.File
		for i := range 20 {
			f, err := d.Create(fmt.Sprintf("%d-%d", way, i))
			must(t, err)
			defer f.Close()
			files = append(files, f)
		}
		must(t, s.Sync(context.Background(), files, []*Dir{d}))
		must(t, s.Sync(context.Background(), nil, nil))
		if got := s.Unproved(); got != v.Durable {
			t.Errorf("got %q, want %q", got, v.Durable)
		}
	}
}

// One failure among many files must come out, whichever worker meets it.
func TestSyncLosesNoError(t *testing.T) {
	d, _ := openTemp(t)
	s, err := NewSyncer(d, Volume{})
	must(t, err)
	defer s.Close()
	for bad := range 20 {
		var files []*os.File
		for i := range 20 {
			f, err := d.Create(fmt.Sprintf("%d-%d", bad, i))
			must(t, err)
			defer f.Close()
			if i == bad {
				f.Close()
			}
			files = append(files, f)
		}
		wantError(t, s.Sync(context.Background(), files, nil), fs.ErrClosed)
	}
}

func TestSyncStopsWhenCancelled(t *testing.T) {
	d, _ := openTemp(t)
	s, err := NewSyncer(d, Volume{})
	must(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantError(t, s.Sync(ctx, nil, []*Dir{d}), context.Canceled)
}
