package governor

import "time"

// counters are what the system counted so far.
type counters struct {
	at      time.Time
	disks   []disk        // always the same in the same order
	read    int64         // bytes that this process had read from drives
	written int64         // bytes that it wrote, or made dirty
	stalled time.Duration // in which some task waited for memory
}

type disk struct {
	name               string
	reads, readBytes   int64
	writes, writeBytes int64
	writing            time.Duration // sum over the writes
	readsInFlight      int64
}

// sight tells the work of others from ours: what the drives did less what this
// process asked for.
//
// Ours is counted when it is submitted, the drive's when it is complete, so ours
// runs ahead by what is in flight; ahead keeps that. Buffered writes run ahead
// until they are written out, maybe in a rest. What the file system writes for us
// by itself (its journal) is charged to nobody: therefore writes count in rests
// only, where nothing of ours should be in flight.
type sight struct {
	last   counters
	ahead  struct{ read, written int64 }
	seen   []traffic // by disk, bytes/s of others, smoothed
	rested time.Time // end of the last rest
}

type traffic struct{ reads, writes float64 }

const (
	// mostAhead bounds reads in flight: 32 steps of 1 MiB. More is read from
	// drives that are not looked at.
	mostAhead = 32 << 20
	// mostDirty bounds what may wait to be written: several batches of 64 MB.
	mostDirty = 256 << 20
)

// since is what happened since the last call. In a rest nothing of ours was in
// flight.
func (s *sight) since(now counters, rest bool) window {
	last := s.last
	s.last = now
	if len(last.disks) != len(now.disks) || last.at.IsZero() {
		s.seen = make([]traffic, len(now.disks))
		return window{}
	}
	w := window{took: now.at.Sub(last.at), known: len(now.disks) > 0, stalled: now.stalled - last.stalled}
	var all disk
	for i := range now.disks {
		all = all.plus(now.disks[i].minus(last.disks[i]))
	}
	var writes int64
	w.reads, s.ahead.read = beyond(s.ahead.read+now.read-last.read, all.readBytes, mostAhead)
	writes, s.ahead.written = beyond(s.ahead.written+now.written-last.written, all.writeBytes, mostDirty)
	if !rest {
		return w
	}
	if w.reads > 0 {
		w.count += all.reads
	}
	if writes > 0 {
		w.count += all.writes
		w.writing = all.writing
	}
	w.waits = all.readsInFlight > 0
	s.rest(last)
	return w
}

// rest ends a rest that began at from: no read of ours is in flight, and what the
// disks did was the doing of others, to be shown to people over about 200 ms.
func (s *sight) rest(from counters) {
	s.ahead.read = 0
	took := s.last.at.Sub(from.at)
	k := decay(s.last.at.Sub(s.rested), 200*time.Millisecond)
	s.rested = s.last.at
	if took <= 0 {
		return
	}
	for i := range s.seen {
		d, t := s.last.disks[i].minus(from.disks[i]), &s.seen[i]
		t.reads += (float64(d.readBytes)/took.Seconds() - t.reads) * k
		t.writes += (float64(d.writeBytes)/took.Seconds() - t.writes) * k
	}
}

// beyond is what a drive did more than it was asked for by us, and what it still
// has to do for us.
func beyond(asked, did, most int64) (others, ahead int64) {
	if did > asked {
		return did - asked, 0
	}
	return 0, min(asked-did, most)
}

func (d disk) minus(e disk) disk {
	d.reads, d.readBytes = d.reads-e.reads, d.readBytes-e.readBytes
	d.writes, d.writeBytes = d.writes-e.writes, d.writeBytes-e.writeBytes
	d.writing -= e.writing
	return d
}

func (d disk) plus(e disk) disk {
	d.reads, d.readBytes = d.reads+e.reads, d.readBytes+e.readBytes
	d.writes, d.writeBytes = d.writes+e.writes, d.writeBytes+e.writeBytes
	d.writing += e.writing
	d.readsInFlight += e.readsInFlight
	return d
}

// most is the disk on which others do most.
func (s *sight) most() (reads, writes float64, name string) {
	for i, t := range s.seen {
		if t.reads+t.writes >= reads+writes {
			reads, writes, name = t.reads, t.writes, s.last.disks[i].name
		}
	}
	return reads, writes, name
}

// rate is what others move on all disks, bytes/s.
func (s *sight) rate() (sum float64) {
	for _, t := range s.seen {
		sum += t.reads + t.writes
	}
	return sum
}
