package governor

import (
	"testing"
	"time"
)

// at makes counters of one disk: what it read and wrote, in 4 KiB, and what of it
// this process asked for.
func at(ms int, read, own, written, ownWritten int64) counters {
	return counters{
		at:   time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond),
		read: own * 4096, written: ownWritten * 4096,
		disks: []disk{{name: "8:0", reads: read, readBytes: read * 4096, writes: written, writeBytes: written * 4096}},
	}
}

func TestOursIsNotTakenForOthers(t *testing.T) {
	type expected struct{ reads, count int64 }
	tests := []struct {
		name     string
		counters []counters
		rest     []bool
		want     []expected // of each window after the first counters
	}{
		{"all that is read is ours", []counters{at(0, 0, 0, 0, 0), at(100, 500, 500, 0, 0), at(110, 500, 500, 0, 0)},
			[]bool{false, true}, []expected{{0, 0}, {0, 0}}},
		{"others read in work and rest", []counters{at(0, 0, 0, 0, 0), at(100, 600, 500, 0, 0), at(110, 630, 500, 0, 0)},
			[]bool{false, true}, []expected{{100, 0}, {30, 30}}},
		{"ours is under way and comes later", []counters{at(0, 0, 0, 0, 0), at(100, 100, 300, 0, 0), at(200, 300, 300, 0, 0), at(300, 310, 300, 0, 0)},
			[]bool{false, false, false}, []expected{{0, 0}, {0, 0}, {10, 0}}},
		{"what we made dirty is written in a rest", []counters{at(0, 0, 0, 0, 0), at(100, 0, 0, 100, 400), at(140, 0, 0, 400, 400)},
			[]bool{false, true}, []expected{{0, 0}, {0, 0}}},
		{"the journal in work is nobody's", []counters{at(0, 0, 0, 0, 0), at(100, 0, 0, 500, 400), at(140, 0, 0, 500, 400)},
			[]bool{false, true}, []expected{{0, 0}, {0, 0}}},
		{"others write in a rest", []counters{at(0, 0, 0, 0, 0), at(100, 0, 0, 400, 400), at(140, 0, 0, 450, 400)},
			[]bool{false, true}, []expected{{0, 0}, {0, 50}}},
		{"what we read elsewhere hides nobody after a rest", []counters{at(0, 0, 0, 0, 0), at(100, 0, 9000, 0, 0), at(110, 0, 9000, 0, 0), at(210, 50, 9000, 0, 0)},
			[]bool{false, true, false}, []expected{{0, 0}, {0, 0}, {50, 0}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var s sight
			s.since(test.counters[0], false)
			for i, c := range test.counters[1:] {
				w := s.since(c, test.rest[i])
				if got := (expected{w.reads / 4096, w.count}); got != test.want[i] {
					t.Errorf("window %d: got %+v, want %+v", i, got, test.want[i])
				}
			}
		})
	}
}

func TestNoCountersAreKnownAsSuch(t *testing.T) {
	var s sight
	s.since(counters{at: time.Unix(1, 0)}, false)
	if w := s.since(counters{at: time.Unix(2, 0)}, false); w.known || w.took != time.Second {
		t.Errorf("got %+v, want a second of which nothing is known", w)
	}
}
