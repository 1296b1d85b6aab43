//go:build linux && root

package slowdrive

import (
	"sync"
	"sync/atomic"
	"time"
)

// Model says how long requests take. Disk and Network are models.
type Model interface {
	wait(request)
	name() string         // behind "fuse." in the list of mounts
	keeps() time.Duration // how long the system may remember names and attributes
}

type kind uint8

const (
	look   kind = iota // of names or attributes in a folder
	change             // of names or attributes
	data               // read or written
	flush              // wait until all changes are on the medium
	ask                // what a local drive answers from memory
)

// request is one call of the system. node is the folder of a look, the file of data.
type request struct {
	kind      kind
	mount     uint64
	node      uint64
	off, size int64
}

// Disk is one spinning disk. Its requests are served one after the other, in the
// order in which they come; one that does not go on where the last one ended
// costs a seek. Names and attributes are read with the first look into a folder
// and kept in memory; changes of them go to a journal, which a flush writes with
// one seek. The zero value is a disk without any cost.
type Disk struct {
	Seek        time.Duration // 8 ms: half a turn of 7,200 a minute and the way of the arm
	BytesPerSec float64       // 150e6; 0: data cost seeks only

	asked atomic.Int64
	mu    sync.Mutex
	free  time.Time // when it has served all that has come
	head  place
	dirty bool // the journal has something to write
	known map[place]bool
}

// place is a byte of a file, or with off 0 a folder.
type place struct {
	mount, node uint64
	off         int64
}

func (d *Disk) wait(q request) {
	d.asked.Add(1)
	d.mu.Lock()
	cost := d.cost(q)
	if now := time.Now(); d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(cost)
	until := d.free
	d.mu.Unlock()
	if cost > 0 {
		time.Sleep(time.Until(until))
	}
}

func (d *Disk) cost(q request) time.Duration {
	at := place{q.mount, q.node, q.off}
	switch q.kind {
	case look:
		at.off = -1
		if d.known[at] {
			return 0
		}
		if d.known == nil {
			d.known = map[place]bool{}
		}
		d.known[at] = true
		return d.move(at, 0)
	case change:
		d.dirty = true
	case data:
		return d.move(at, q.size)
	case flush:
		if d.dirty {
			d.dirty = false
			return d.move(place{mount: q.mount}, 0)
		}
	}
	return 0
}

// move brings the head to a place and over size bytes.
func (d *Disk) move(to place, size int64) (cost time.Duration) {
	if d.head != to {
		cost = d.Seek
	}
	to.off += size
	d.head = to
	return cost + passing(size, d.BytesPerSec)
}

func (d *Disk) name() string { return "slowdisk" }

// keeps: nobody else changes a local disk.
func (d *Disk) keeps() time.Duration { return time.Hour }

// Asked is how many requests came so far.
func (d *Disk) Asked() int64 { return d.asked.Load() }

// Network is a share at a server. Each request is one round trip, any number of
// them at once; the bytes of all of them share one line. The zero value costs
// nothing.
type Network struct {
	RoundTrip   time.Duration
	BytesPerSec float64 // 0: the line is free

	mu   sync.Mutex
	free time.Time // when the line has carried all that was sent
}

func (n *Network) wait(q request) {
	n.mu.Lock()
	if now := time.Now(); n.free.Before(now) {
		n.free = now
	}
	n.free = n.free.Add(passing(q.size, n.BytesPerSec))
	until := n.free.Add(n.RoundTrip)
	n.mu.Unlock()
	time.Sleep(time.Until(until))
}

func (n *Network) name() string { return "sshfs" }

// keeps is what sshfs and nfs do about as long.
func (n *Network) keeps() time.Duration { return 3 * time.Second }

func passing(size int64, bytesPerSec float64) time.Duration {
	if bytesPerSec == 0 {
		return 0
	}
	return time.Duration(float64(size) / bytesPerSec * float64(time.Second))
}
