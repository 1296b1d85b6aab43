// Package store keeps jobs, runs, the board of 24 hours, the file index and the
// settings in one bbolt file. Only one process has a data folder open at a time:
// that lock is the single-instance lock of the agent. The database is never
// needed to read a copy: a damaged one is put aside and built anew from
// jobs.json and from what the targets themselves say.
//
// Start with Open. Each method is one short transaction, or several for those
// that say so; what a method returns is durable, and what it yields is yielded
// outside of any transaction, so that a slow reader blocks nobody.
//
// The data folder holds, of this package:
//
//	hourhand.db                  all of it
//	hourhand.db.copy-TIME        daily copies of all but the file index; 3 are kept
//	hourhand.db.damaged-TIME     put aside by Open, never removed
//	hourhand.lock                locked while the folder is open
//	jobs.json                    every job; jobs.json.damaged-TIME as above
package store

import (
	"errors"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

var (
	ErrNotFound = errors.New("not found")
	ErrLocked   = errors.New("another Hourhand uses this data folder")
	ErrNewer    = errors.New("this data folder belongs to a newer Hourhand")

	// ErrDamaged comes from a method that met bytes which cannot be right. Open
	// never returns it: it puts the file aside and builds a new one.
	ErrDamaged = errors.New("the database is damaged")
)

// Store is an open data folder. Its methods may be called from any goroutine.
type Store struct {
	dir     string
	now     func() time.Time
	rebuilt string
	lock    *flock.Flock
	db      *database

	jobs     sync.Mutex // one change of jobs at a time, with its jobs.json
	indexing sync.Mutex // one Index at a time: it reads, then writes what it found to differ
}

// Close ends the use of the data folder. It waits for transactions at work.
func (s *Store) Close() error {
	var err error
	if s.db != nil {
		err = s.db.close()
	}
	return errors.Join(err, s.lock.Unlock())
}

// Rebuilt is the sentence for the dashboard after a rebuild, else "".
func (s *Store) Rebuilt() string { return s.rebuilt }
