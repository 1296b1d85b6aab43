//go:build linux && root

package slowdrive_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine/slowdrive"
)

var (
	seek  = flag.Duration("seek", 8*time.Millisecond, "what a seek of the modelled disk takes")
	trip  = flag.Duration("trip", 20*time.Millisecond, "a round trip of the modelled network")
	small = flag.Int("small", 300, "files of 20 KB to copy")
	large = flag.Int("large", 2, "files of 16 MiB to copy")
)

// BenchmarkDrives copies one tree on each kind of pair, with fixed numbers of files
// in work and with what the governor finds by itself (workers=auto):
//
//	go test -tags root -run '^$' -bench Drives -benchtime 3x -timeout 1h ./engine/slowdrive
func BenchmarkDrives(b *testing.B) {
	disk := func() slowdrive.Model { return &slowdrive.Disk{Seek: *seek, BytesPerSec: 150e6} }
	local := func() slowdrive.Model { return &slowdrive.Disk{} }
	for _, drives := range []struct {
		name string
		pair func() (source, target slowdrive.Model)
	}{
		{"two-disks", func() (slowdrive.Model, slowdrive.Model) { return disk(), disk() }},
		{"one-disk", func() (slowdrive.Model, slowdrive.Model) { d := disk(); return d, d }},
		{"to-network", func() (slowdrive.Model, slowdrive.Model) {
			return local(), &slowdrive.Network{RoundTrip: *trip, BytesPerSec: 100e6}
		}},
	} {
		for _, workers := range []int{1, 2, 4, 8, 16, 32, 0} {
			name := fmt.Sprintf("%s/workers=%d", drives.name, workers)
			if workers == 0 {
				name = drives.name + "/workers=auto"
			}
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					source, target := drives.pair()
					b.StartTimer()
					copyOnce(b, source, target, workers)
				}
			})
		}
	}
}

// copyOnce copies onto new mounts; only the run is timed.
func copyOnce(b *testing.B, source, target slowdrive.Model, workers int) {
	b.StopTimer()
	defer b.StartTimer()
	p := newPair(b, source, target)
	defer os.RemoveAll(p.source)
	defer os.RemoveAll(p.target)
	p.m.Workers = workers
	p.tree(*small, 20_000)
	for i := range *large {
		p.write(fmt.Sprintf("large%d", i), 16<<20)
	}
	b.StartTimer()
	p.run()
	b.StopTimer()
}
