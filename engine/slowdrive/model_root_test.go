//go:build linux && root

package slowdrive

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestDiskServesOneRequestAfterTheOther(t *testing.T) {
	read := func(node uint64, off int64) request { return request{data, 1, node, off, 1e6} }
	for name, c := range map[string]struct {
		requests []request
		want     time.Duration
	}{
		"one file":           {[]request{read(1, 0), read(1, 1e6), read(1, 2e6)}, 8 + 3*10},
		"two files in turns": {[]request{read(1, 0), read(2, 0), read(1, 1e6), read(2, 1e6)}, 4 * (8 + 10)},
		"one folder":         {[]request{{look, 1, 7, 0, 0}, {look, 1, 7, 0, 0}}, 8},
		"journal":            {[]request{{change, 1, 7, 0, 0}, {change, 1, 8, 0, 0}, {flush, 1, 8, 0, 0}, {flush, 1, 9, 0, 0}}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, began := &Disk{Seek: 8 * time.Millisecond, BytesPerSec: 100e6}, time.Now()
				for _, q := range c.requests {
					d.wait(q)
				}
				if took := time.Since(began); took != c.want*time.Millisecond {
					t.Errorf("took %v, want %v", took, c.want*time.Millisecond)
				}
			})
		})
	}
}

func TestNetworkAnswersManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, began := &Network{RoundTrip: 20 * time.Millisecond, BytesPerSec: 100e6}, time.Now()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { n.wait(request{data, 1, 1, 0, 1e6}) })
		}
		all.Wait()
		if took, want := time.Since(began), 120*time.Millisecond; took != want {
			t.Errorf("ten times 1 MB took %v, want a round trip and 10 ms for each: %v", took, want)
		}
	})
}
