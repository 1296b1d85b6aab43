package governor

import (
	"math"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// drive is one whose counters are there.
var drive = tree.Drive{Medium: tree.Solid, Disks: []string{"8:0"}}

// neighbour reads 4 KiB at a time, as fast as it can.
type neighbour struct {
	alone float64 // reads/s in our rests
	work  float64 // reads/s while one step of ours is in flight
	full  float64 // reads/s while all are
}

// world is a drive with a neighbour on it, in place of clock and counters.
type world struct {
	law    law
	move   move
	now    time.Duration
	theirs func(now time.Duration) neighbour
	sync   time.Duration // the next slice of work takes at least so long

	worked, lost time.Duration // of ours, of theirs
	reads        float64       // carried over: whole reads only
}

func newWorld(yield float64, theirs func(time.Duration) neighbour) *world {
	w := &world{law: newLaw(Options{Yield: yield, Drives: []tree.Drive{drive, drive}}), theirs: theirs}
	w.move = w.law.first()
	return w
}

func always(n neighbour) func(time.Duration) neighbour {
	return func(time.Duration) neighbour { return n }
}

// step is one cycle.
func (w *world) step() {
	n := w.theirs(w.now)
	rate := n.full
	if w.move.flying < unbounded {
		rate = n.full + (n.work-n.full)/float64(w.move.flying)
	}
	work := max(w.move.work, w.sync)
	w.sync = 0
	c := cycle{work: w.window(work, rate), rest: w.window(w.move.rest, n.alone)}
	c.work.count = 0
	c.work.mine = work2(work)
	c.work.files = w.move.files
	c.rest.waits = n.work < n.alone && w.move.rest > 0 // who is hurt waits for each read
	w.worked += work
	if n.alone > 0 {
		w.lost += time.Duration(float64(work) * (1 - rate/n.alone))
	}
	w.now += work + w.move.rest
	w.move = w.law.next(c)
}

func work2(took time.Duration) work {
	return work{bytes: int64(took.Seconds() * 4e8), steps: int64(took.Seconds() * 1000), time: 2 * took}
}

func (w *world) window(took time.Duration, rate float64) window {
	w.reads += rate * took.Seconds()
	whole := math.Floor(w.reads)
	w.reads -= whole
	return window{took: took, known: true, reads: int64(whole) * 4096, count: int64(whole)}
}

// run goes on for d and tells which share of it was work, and which others lost.
func (w *world) run(d time.Duration) (worked, lost float64) {
	from, workedBefore, lostBefore := w.now, w.worked, w.lost
	for w.now < from+d {
		w.step()
	}
	took := (w.now - from).Seconds()
	return (w.worked - workedBefore).Seconds() / took, (w.lost - lostBefore).Seconds() / took
}

func TestOthersLoseNoMoreThanTheirShare(t *testing.T) {
	tests := []struct {
		name  string
		yield float64
		n     neighbour
	}{
		{"gentle, hurt a little", 0.05, neighbour{12000, 10800, 6000}},
		{"gentle, hurt by half", 0.05, neighbour{12000, 6000, 3000}},
		{"gentle, hurt as far as can be", 0.05, neighbour{12000, 600, 100}},
		{"gentle, a disk that seeks", 0.05, neighbour{120, 20, 5}},
		{"normal, hurt by half", 0.25, neighbour{12000, 6000, 3000}},
		{"normal, hurt as far as can be", 0.25, neighbour{12000, 600, 100}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(test.yield, always(test.n))
			w.run(2 * time.Second)
			worked, lost := w.run(10 * time.Second)
			if lost > 1.15*test.yield {
				t.Errorf("others lose %.3f, want at most %.3f", lost, test.yield)
			}
			possible := test.yield / (1 - test.n.work/test.n.alone)
			if worked < 0.7*min(possible, 0.9) {
				t.Errorf("work in %.3f of the time, %.3f was possible", worked, possible)
			}
		})
	}
}

func TestFullSpeedWhereNobodyIsHurt(t *testing.T) {
	tests := []struct {
		name  string
		yield float64
		n     neighbour
		want  float64
	}{
		{"nobody there", 0.05, neighbour{}, 0.98},
		{"the murmur of a system", 0.05, neighbour{40, 40, 40}, 0.95},
		{"a neighbour who does not mind", 0.05, neighbour{3000, 3000, 3000}, 0.85},
		{"full yields to nobody", 0, neighbour{12000, 600, 100}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(test.yield, always(test.n))
			if worked, _ := w.run(20 * time.Second); worked < test.want {
				t.Errorf("work in %.3f of the time, want %.3f", worked, test.want)
			}
		})
	}
}

func TestComesAndGoesWithOthers(t *testing.T) {
	const comes, goes = 5 * time.Second, 10 * time.Second
	w := newWorld(0.05, func(now time.Duration) neighbour {
		if now < comes || now > goes {
			return neighbour{}
		}
		return neighbour{12000, 6000, 1000}
	})
	w.run(comes)
	for !w.law.yielding() {
		w.step()
	}
	if late := w.now - comes; late > time.Second {
		t.Errorf("backs off after %v, want within 1s", late)
	}
	w.run(goes - w.now)
	for w.law.yielding() {
		w.step()
	}
	if late := w.now - goes; late > 300*time.Millisecond {
		t.Errorf("at full speed after %v, want within 300ms", late)
	}
}

func TestLongSyncIsPaidBack(t *testing.T) {
	w := newWorld(0.05, always(neighbour{12000, 6000, 1000}))
	w.run(2 * time.Second)
	w.sync = 150 * time.Millisecond
	if _, lost := w.run(3 * time.Second); lost > 0.055 {
		t.Errorf("others lose %.3f after a long step, want 0.05", lost)
	}
}

func TestDoubtLeadsToALook(t *testing.T) {
	l := newLaw(Options{Yield: 0.05, Drives: []tree.Drive{drive}})
	look := cycle{rest: window{took: lookRest, known: true}}
	look.work.known = true
	reading := cycle{work: window{took: tick, known: true, reads: 2e6}}
	ticks := func() (n int) {
		for m := l.next(reading); m.rest == 0; m = l.next(reading) {
			n++
		}
		return n
	}
	l.next(look)
	if n := ticks(); n > 1 {
		t.Errorf("looks %d ticks after others seemed to read, want 1", n)
	}
	l.next(look) // nobody there: the reads were made for us
	if n := ticks(); n < 4 || l.yielding() {
		t.Errorf("looks again after %d ticks, yielding %v; want the usual time and no yielding", n, l.yielding())
	}
}

func TestYieldsWhereNoLookIsPossible(t *testing.T) {
	l := newLaw(Options{Yield: 0.05, Drives: []tree.Drive{drive}})
	reading := cycle{work: window{took: tick, known: true, reads: 2e6, mine: work2(tick)}, missed: true}
	for range 10 {
		l.next(reading)
	}
	if !l.yielding() {
		t.Error("does not yield to others who read during a long step")
	}
}

func TestWritersAreCaredForByTheTimeOfTheirWrites(t *testing.T) {
	for _, test := range []struct {
		name    string
		busy    float64 // share of time in which they write
		atMost  float64 // share of time for our work
		atLeast float64
	}{
		{"always", 1, 0.1, 0.04},
		{"now and then", 0.02, 0.7, 0.5},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLaw(Options{Yield: 0.05, Drives: []tree.Drive{drive}})
			m, worked, all := l.first(), 0.0, 0.0
			for all < 10 {
				c := cycle{work: window{took: m.work, known: true}, rest: window{took: m.rest, known: true}}
				c.rest.count = int64(3000 * m.rest.Seconds())
				c.rest.writing = seconds(m.rest.Seconds() * test.busy)
				worked, all = worked+m.work.Seconds(), all+(m.work+m.rest).Seconds()
				m = l.next(c)
			}
			if share := worked / all; share < test.atLeast || share > test.atMost {
				t.Errorf("work in %.3f of the time, want %.2f to %.2f", share, test.atLeast, test.atMost)
			}
		})
	}
}

func TestShortMemoryOfOthersHoldsBack(t *testing.T) {
	l := newLaw(Options{Yield: 0.25, Drives: []tree.Drive{drive}})
	for range 20 {
		l.next(cycle{work: window{took: tick, known: true, stalled: tick / 2}})
	}
	if m := l.next(cycle{work: window{took: tick, known: true, stalled: tick / 2}}); m.flying != 1 || m.rest == 0 {
		t.Errorf("got %+v, want one step in flight and rests", m)
	}
	for range 50 {
		l.next(cycle{work: window{took: tick, known: true}})
	}
	if l.yielding() {
		t.Error("still yields 5 s after memory is there again")
	}
}

func TestBlindLawGoesByTheLatencyOfItsOwnSteps(t *testing.T) {
	l := newLaw(Options{Yield: 0.05, Drives: []tree.Drive{{}}})
	m := l.first()
	// Steps take so long; with eight in flight they take as much longer as there
	// are more of them.
	run := func(d, step time.Duration) {
		for end := d; end > 0; end -= m.work + m.rest + time.Millisecond {
			flying := float64(min(m.flying, 8))
			w := window{took: m.work, files: min(m.files, 8)}
			w.mine.steps = int64(m.work.Seconds() / step.Seconds())
			w.mine.bytes = w.mine.steps << 20
			w.mine.time = seconds(m.work.Seconds() * flying)
			m = l.next(cycle{work: w, rest: window{took: m.rest}})
		}
	}
	run(3*time.Second, time.Millisecond)
	if l.yielding() {
		t.Fatal("yields although nothing became slower")
	}
	run(time.Second, 5*time.Millisecond)
	if !l.yielding() {
		t.Fatal("does not yield after a second of slow steps")
	}
	run(12*time.Second, time.Millisecond)
	if l.yielding() {
		t.Error("still yields 12 s after the steps are fast again")
	}
	run(20*time.Second, 5*time.Millisecond)
	if l.yielding() {
		t.Error("takes a drive that stays slow for a neighbour for ever")
	}
}
