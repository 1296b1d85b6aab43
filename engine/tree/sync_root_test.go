//go:build linux && root

package tree

import (
	"context"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A device that has no room for what its file system promised tells so when
// the data is written out, long after write has said yes.
func TestSyncTellsThatDataDidNotReachTheDevice(t *testing.T) {
	for _, group := range []bool{true, false} {
		small := mountTmpfs(t, "24m")
		d, _ := mountImage(t, small.name, "ext4", "", "-E", "lazy_itable_init=1", "-J", "size=4")
		v, err := d.Volume()
		must(t, err)
		v.GroupSync = group
		s, err := NewSyncer(d, v)
		must(t, err)
		defer s.Close()
		f, err := d.Create("file")
		must(t, err)
		defer f.Close()
		must(t, s.Sync(context.Background(), []*os.File{f}, []*Dir{d}))
		chunk := make([]byte, 1<<20)
		for i := range chunk {
			chunk[i] = 1
		}
		for range 40 {
			_, err := f.Write(chunk)
			must(t, err)
		}
		err = s.Sync(context.Background(), []*os.File{f}, []*Dir{d})
		if !errors.Is(err, unix.EIO) && !errors.Is(err, unix.ENOSPC) { // as the loop device happens to put it
			t.Errorf("group %v: got %v, want the device's error", group, err)
		}
	}
}

// A file system that has shut itself down after an error must not get a yes.
func TestSyncOnAVolumeThatGaveUpFails(t *testing.T) {
	for _, fileSystem := range []string{"ext4", "xfs"} {
		d, at := mountLoop(t, fileSystem, "")
		v, err := d.Volume()
		must(t, err)
		s, err := NewSyncer(d, v)
		must(t, err)
		defer s.Close()
		f, err := d.Create("file")
		must(t, err)
		defer f.Close()
		must(t, s.Sync(context.Background(), []*os.File{f}, []*Dir{d}))
		_, err = f.WriteString("never written out")
		must(t, err)
		run(t, "xfs_io", "-x", "-c", "shutdown", at)
		for range 3 {
			if s.Sync(context.Background(), []*os.File{f}, []*Dir{d}) == nil {
				t.Errorf("%s: a sync after the shutdown succeeded", fileSystem)
			}
			if s.Sync(context.Background(), nil, nil) == nil {
				t.Errorf("%s: a barrier after the shutdown succeeded", fileSystem)
			}
		}
	}
}

func TestSyncOnAVolumeThatBecameReadOnlyFails(t *testing.T) {
	d, at := mountLoop(t, "ext4", "")
	v, err := d.Volume()
	must(t, err)
	s, err := NewSyncer(d, v)
	must(t, err)
	defer s.Close()
	must(t, s.Sync(context.Background(), nil, []*Dir{d}))
	run(t, "mount", "-o", "remount,ro", at)
	wantError(t, s.Sync(context.Background(), nil, []*Dir{d}), unix.EROFS)
}
