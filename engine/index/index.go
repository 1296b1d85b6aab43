// Package index holds an hour's idx: what the next run compares with. The file
// groups entries by folder, in the order of the walk, so that a folder's block
// is found by one look-up and the whole is merged as a stream: memory does not
// grow with the number of files. The package also sorts lists larger than
// memory (Sorter) and queues more actions than memory holds (Spill).
package index

import (
	"errors"

	"github.com/hourhand/hourhand/engine/tree"
)

// How the bytes of a file were proved.
type How uint8

const (
	Unproved How = iota // never hashed or never read back: from a manifest line only, or verify none
	Source              // only hashed in flight
	Cache               // read back, but not past the cache
	Server              // read back from a network target
	Device              // read back past the cache after an acknowledged flush
	Clone               // shares blocks with an hour verified then
)

// Flags of an entry.
const (
	Racy     = 1 << iota // modified so near to its reading that stat proves nothing: compare contents at the next visit
	Unstable             // changed at every reading
	Partial              // only Path and Hash are known: made from a manifest or from intents
	Stale                // the source's file could not be read: this is an older copy
	NextToo              // NextHash holds as well: an interrupted run may have put those bytes there
)

// Stamp is the part of a stat that betrays a change.
type Stamp struct {
	MTime, CTime int64 // ns since 1970
	ID           uint64
}

// Entry is one entry of a folder.
type Entry struct {
	Name     string
	Kind     tree.Kind
	Flags    uint8
	How      How
	Size     int64
	Hash     [16]byte // XXH3-128 of a regular file
	NextHash [16]byte // with NextToo
	Source   Stamp
	Target   Stamp
	Proved   int64 // unix seconds of How
	Put      int64 // mode changes: unix seconds when it came into the hour
	Seq      int64 // mode changes: the hour's seal number then
}

// Located is an entry with its folder.
type Located struct {
	Dir string
	Entry
}

// Path of a located entry.
func (l Located) Path() string {
	if l.Dir == "" {
		return l.Name
	}
	return l.Dir + "/" + l.Name
}

// Header of an idx.
type Header struct {
	RunID    string   // at most 255 bytes
	Manifest [16]byte // XXH3-128 of the manifest it belongs to
}

// ErrDamaged is in every error about bytes that are not those of an idx: cut off,
// altered, or of a version unknown to this program. The next run does without.
var ErrDamaged = errors.New("index is damaged")
