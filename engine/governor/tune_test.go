package governor

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// Simulated drives: files in work to steps a second of 64 KiB.
var (
	seeking = func(files int) float64 { return 100 / float64(files) }
	distant = func(files int) float64 { return float64(files) / 0.020 }
	flash   = func(files int) float64 { return min(float64(files), 3) * 3000 }
)

// tuned runs the tuner on a drive for d. noise is the most by which a window is
// off. It tells where it ends, and the steps it did of those that its start alone
// had done.
func tuned(t *tuner, speed func(int) float64, noise float64, seed uint64, d time.Duration) (level int, share float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	var did, atStart float64
	start := t.base
	for range d / tick {
		off := 1 + noise*(2*random.Float64()-1)
		steps := speed(t.level) * tick.Seconds() * off
		did += steps
		atStart += speed(start) * tick.Seconds() * off
		t.next(window{took: tick, files: t.level, mine: work{steps: int64(steps), bytes: int64(steps * 65536)}})
	}
	return t.base, did / atStart
}

func TestTuningSuitsTheDrive(t *testing.T) {
	unknown := tree.Drive{}
	spinning := tree.Drive{Medium: tree.Spinning, Disks: []string{"8:0"}}
	network := tree.Drive{Network: true}
	tests := []struct {
		name        string
		drive       tree.Drive
		speed       func(int) float64
		least, most int
		gain        float64 // over its own start, in 20 s
	}{
		{"a disk that seeks and says so", spinning, seeking, 1, 1, 0.9},
		{"a disk that seeks and says nothing", unknown, seeking, 1, 2, 1.5},
		{"a network", network, distant, 32, 32, 2.5},
		{"a network that looks like a disk", unknown, distant, 32, 32, 4},
		{"flash", drive, flash, 3, 16, 0.97},
		{"fast and unknown", unknown, flash, 3, 16, 0.95},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := newTuner(Options{Drives: []tree.Drive{test.drive, test.drive}})
			level, gain := tuned(&u, test.speed, 0.02, 1, 20*time.Second)
			if level < test.least || level > test.most || gain < test.gain {
				t.Errorf("ends at %d with %.2f of its start, want %d to %d with %.2f", level, gain, test.least, test.most, test.gain)
			}
		})
	}
}

func TestNoiseDoesNotCostSpeed(t *testing.T) {
	for _, noise := range []float64{0.3, 0.6} {
		var shares []float64
		for seed := range uint64(100) {
			u := newTuner(Options{Drives: []tree.Drive{drive, drive}})
			_, share := tuned(&u, flash, noise, seed, time.Minute)
			shares = append(shares, share)
		}
		slices.Sort(shares)
		if median, worst := shares[50], shares[0]; median < 0.97 || worst < 0.8 {
			t.Errorf("with noise of %.1f, runs have %.2f of the speed without tuning, the worst %.2f; want 0.97 and 0.80", noise, median, worst)
		}
	}
}

func TestFewFilesTeachNothing(t *testing.T) {
	u := newTuner(Options{Drives: []tree.Drive{drive}})
	start := u.level
	for i := range 200 {
		u.next(window{took: tick, files: 1, mine: work{steps: int64(i)}})
	}
	if u.level != start {
		t.Errorf("got %d files, want %d: one file in work says nothing about more", u.level, start)
	}
}

func TestFixedStaysFixed(t *testing.T) {
	u := newTuner(Options{Max: 3, Fixed: true, Drives: []tree.Drive{{Network: true}}})
	if level, _ := tuned(&u, distant, 0, 1, 10*time.Second); level != 3 || u.most != 3 {
		t.Errorf("got %d of %d, want 3 of 3", level, u.most)
	}
}

func TestMaxBoundsTheStart(t *testing.T) {
	u := newTuner(Options{Max: 2, Drives: []tree.Drive{{Network: true}}})
	if level, _ := tuned(&u, distant, 0, 1, 10*time.Second); level != 2 {
		t.Errorf("got %d, want 2", level)
	}
}
