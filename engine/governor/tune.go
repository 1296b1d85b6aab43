package governor

import (
	"runtime"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// tuner finds how many files should be in work at once. It starts with what the
// drives suggest and tries double and half as many: base, trial, base, trial ...
// Two windows of the same setting differ much (another file, a sync), so only
// what wins several times in a row over the average of base is taken.
type tuner struct {
	fixed       bool
	level       int // files that may be in work
	base        int // the setting that is held
	most        int
	up          bool // direction of the next trial
	settle      bool // the window after a change belongs to neither setting
	gathered    window
	usual       float64 // value a second at base, smoothed
	points      int     // of the trial, for each window in which it won
	hold, pause int     // windows to go until the next trial; how many after the next failure
}

const (
	// A window that gains a tenth is one point, one that gains half is two; five
	// are enough. So noise of 60 % moves the setting once in 50 trials.
	trialPoints        = 5
	smallGain, bigGain = 1.1, 1.5
	// A window is long enough for some steps of 20 ms in each of a few files.
	trialWindow = 200 * time.Millisecond
	// After failed trials it waits longer and longer: 2 s to 26 s.
	firstPause, longestPause = 8, 128
)

func newTuner(o Options) tuner {
	base, most := suggested(o.Drives)
	if o.Max > 0 {
		most = o.Max
		base = min(base, most)
	}
	if o.Fixed && o.Max > 0 {
		base = o.Max
	}
	return tuner{fixed: o.Fixed, level: base, base: base, most: most, up: true, hold: 2, pause: firstPause}
}

// suggested is where to start and where to end. Two files keep both drives of a
// pair busy; one where a single disk must seek between reading and writing. On
// flash, 8 workers gave a little more than 4, and 16 nothing (two processors).
// Over a network only parallel calls hide the way.
func suggested(drives []tree.Drive) (base, most int) {
	spinning, network, solid := false, false, len(drives) > 0
	for _, d := range drives {
		spinning = spinning || d.Medium == tree.Spinning
		network = network || d.Network
		solid = solid && d.Medium == tree.Solid
	}
	switch {
	case network:
		return 8, 32
	case spinning && shared(drives):
		return 1, 8
	case spinning:
		return 2, 8
	case solid:
		return min(max(2*runtime.GOMAXPROCS(0), 4), 8), 16
	}
	return 4, 32
}

// shared tells whether source and a target lie on one disk.
func shared(drives []tree.Drive) bool {
	for _, d := range drives[1:] {
		if d.Shares(drives[0]) {
			return true
		}
	}
	return false
}

// next takes a window of undisturbed work.
func (t *tuner) next(w window) {
	if t.fixed || w.took == 0 {
		return
	}
	if t.settle {
		t.settle = false
		return
	}
	t.gathered.took += w.took
	t.gathered.mine.bytes += w.mine.bytes
	t.gathered.mine.steps += w.mine.steps
	t.gathered.files = max(t.gathered.files, w.files)
	if t.gathered.took < trialWindow {
		return
	}
	w, t.gathered = t.gathered, window{}
	rate := w.mine.value() / w.took.Seconds()
	if t.level == t.base {
		t.held(w.files, rate)
	} else {
		t.tried(w.files, rate)
	}
}

// held takes a window at base and may begin a trial. Without as many files in work
// as are allowed there is nothing to learn.
func (t *tuner) held(files int, rate float64) {
	if t.usual == 0 {
		t.usual = rate
	}
	t.usual += 0.3 * (rate - t.usual)
	t.hold--
	if t.hold > 0 || files < t.base || rate == 0 {
		return
	}
	trial := t.base * 2
	if !t.up {
		trial = t.base / 2
	}
	trial = min(max(trial, 1), t.most)
	if trial == t.base {
		t.lost()
		return
	}
	t.set(trial)
}

func (t *tuner) tried(files int, rate float64) {
	trial := t.level
	if files != trial || rate < smallGain*t.usual {
		t.set(t.base)
		t.lost()
		return
	}
	t.points++
	if rate > bigGain*t.usual {
		t.points++
	}
	if t.points < trialPoints {
		t.set(t.base)
		t.hold = 1
		return
	}
	t.base, t.points, t.usual = trial, 0, rate
	t.hold, t.pause = 1, firstPause
}

// lost turns the direction, and after both of them failed waits longer.
func (t *tuner) lost() {
	t.points, t.hold = 0, 2
	if !t.up {
		t.hold = t.pause
		t.pause = min(2*t.pause, longestPause)
	}
	t.up = !t.up
}

// interrupt ends a trial: what is measured now is the doing of others.
func (t *tuner) interrupt() {
	t.gathered, t.points = window{}, 0
	t.hold = max(t.hold, 2)
	if t.level != t.base {
		t.set(t.base)
	}
}

func (t *tuner) set(level int) { t.level, t.settle = level, true }
