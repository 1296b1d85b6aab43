//go:build linux && root

package slowdrive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/engine/slowdrive"
)

// pair is a source and a target behind slow drives.
type pair struct {
	testing.TB
	source, target string // the folders that lie behind
	m              engine.Mirror
}

func newPair(t testing.TB, source, target slowdrive.Model) *pair {
	t.Helper()
	p := &pair{TB: t, source: t.TempDir(), target: t.TempDir()}
	p.m = engine.Mirror{
		Source:  slowdrive.Mount(t, p.source, source),
		Dests:   []engine.Dest{{Target: slowdrive.Mount(t, p.target, target), Hour: engine.OneShot}},
		Scratch: t.TempDir(), Profile: engine.ProfileFull, RetryWait: time.Millisecond,
	}
	return p
}

func (p *pair) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// write makes a file of the source, past the slow drive.
func (p *pair) write(name string, size int) {
	p.Helper()
	path := filepath.Join(p.source, name)
	p.must(os.MkdirAll(filepath.Dir(path), 0o755))
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size)}).Read(data)
	p.must(os.WriteFile(path, data, 0o640))
	at := time.Date(2024, 5, 6, 7, 8, 9, size, time.UTC)
	p.must(os.Chtimes(path, at, at))
}

func (p *pair) tree(files, size int) {
	for i := range files {
		p.write(fmt.Sprintf("folder%02d/file%03d", i/30, i), size+i)
	}
}

func (p *pair) run() engine.Report {
	p.Helper()
	reports, err := engine.Run(context.Background(), p.m, nil)
	p.must(err)
	if r := reports[0]; r.Outcome != engine.Done {
		p.Fatalf("outcome %q (error %v, problems %v)", r.Outcome, r.Err, r.Problems)
	}
	return reports[0]
}

// equal lets rsync compare the folders behind the drives.
func (p *pair) equal() {
	p.Helper()
	out, err := exec.Command("rsync", "-anHAX", "--delete", "--checksum", "-i", "--exclude", "/.hourhand", p.source+"/", p.target+"/").CombinedOutput()
	if err != nil || len(out) > 0 {
		p.Errorf("rsync finds differences: %v\n%s", err, out)
	}
}

func TestMirrorOnSlowDrives(t *testing.T) {
	disk := func() slowdrive.Model { return &slowdrive.Disk{Seek: time.Millisecond, BytesPerSec: 500e6} }
	net := func() slowdrive.Model { return &slowdrive.Network{RoundTrip: 2 * time.Millisecond, BytesPerSec: 500e6} }
	one := disk()
	for name, d := range map[string][2]slowdrive.Model{
		"two disks": {disk(), disk()}, "one disk": {one, one}, "disk to network": {disk(), net()}, "network to disk": {net(), disk()},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, d[0], d[1])
			p.tree(100, 3000)
			p.write("large", 5<<20)
			p.write("empty", 0)
			p.must(os.Symlink("large", filepath.Join(p.source, "link")))
			p.must(os.Link(filepath.Join(p.source, "large"), filepath.Join(p.source, "folder00/large too")))
			p.must(unix.Setxattr(filepath.Join(p.source, "large"), "user.note", []byte("kept"), 0))
			p.run()
			p.equal()
			if again := p.run(); again.Changed {
				t.Errorf("an unchanged source touched the copy: %+v", again)
			}
			p.must(os.Rename(filepath.Join(p.source, "large"), filepath.Join(p.source, "folder01/large")))
			p.must(os.RemoveAll(filepath.Join(p.source, "folder00")))
			p.write("folder02/file060", 9000)
			p.m.Yes = true
			p.run()
			p.equal()
		})
	}
}

func TestPauseOnASlowDrive(t *testing.T) {
	disk := &slowdrive.Disk{Seek: time.Millisecond, BytesPerSec: 40e6}
	p := newPair(t, disk, disk)
	p.write("large", 16<<20)
	p.m.Gate = &engine.Gate{}
	var done sync.WaitGroup
	done.Go(func() { p.run() })
	for disk.Asked() < 100 {
		time.Sleep(time.Millisecond)
	}
	p.m.Gate.Pause()
	time.Sleep(200 * time.Millisecond) // what a pause may take
	before := disk.Asked()
	time.Sleep(200 * time.Millisecond)
	if after := disk.Asked(); after > before {
		t.Errorf("%d requests came while the run was paused", after-before)
	}
	p.m.Gate.Resume()
	done.Wait()
	p.equal()
}
