// Package store keeps jobs, runs, the board of 24 hours, the file index and the
// settings in one bbolt file. Only one process has a data folder open at a time:
// that lock is the single-instance lock of the agent. The database is never
// needed to read a copy: a damaged one is put aside and built anew from
// jobs.json and from what the targets themselves say.
//
// Start with Open. Each method is one short transaction, or several for those
// that say so; what a method returns is durable, and what it yields is yielded
// outside of any transaction, so that a slow reader blocks nobody.
package store

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"go.etcd.io/bbolt"
)

var (
	ErrNotFound = errors.New("not found")
	ErrLocked   = errors.New("another Hourhand uses this data folder")
	ErrNewer    = errors.New("this data folder belongs to a newer Hourhand")

	// ErrDamaged comes from a method that met bytes which cannot be right. The
	// next Open puts the file aside and builds a new one.
	ErrDamaged = errors.New("the database is damaged; restart Hourhand, it builds a new one")
)

// Store is an open data folder. Its methods may be called from any goroutine.
type Store struct {
	dir     string
	now     func() time.Time
	rebuilt string
	lock    *flock.Flock

	db   *bbolt.DB
	file *os.File // the handle that db works on, see Close

	jobs     sync.Mutex // one change of jobs at a time, with its jobs.json
	indexing sync.Mutex // one Index at a time: it reads, then writes what it found to differ

	// broken is set once a transaction died half-way. Locks inside bbolt may be
	// held for ever then, so nothing enters it again.
	broken atomic.Pointer[fault]
}

// Close ends the use of the data folder. It waits for transactions at work.
func (s *Store) Close() error {
	err := s.closeDB()
	return errors.Join(err, s.lock.Unlock())
}

func (s *Store) closeDB() error {
	switch {
	case s.db == nil:
		return nil
	case s.broken.Load() != nil:
		// bbolt's own Close could wait for ever. Its mapping stays until the
		// process ends, and with it the lock if it is not given back.
		return errors.Join(unlock(s.file), s.file.Close())
	}
	return s.db.Close()
}

// Rebuilt is the sentence for the dashboard after a rebuild, else "".
func (s *Store) Rebuilt() string { return s.rebuilt }

// view runs fn in a read transaction. Damage that bbolt or fn trips over comes
// back as ErrDamaged.
func (s *Store) view(fn func(*bbolt.Tx) error) error {
	if f := s.broken.Load(); f != nil {
		return f
	}
	entered := false
	err := guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			entered = true
			return fn(tx)
		})
	})
	if f, ok := errors.AsType[*fault](err); ok && !entered {
		s.broken.Store(f)
	}
	return err
}

// update runs fn in a write transaction that is durable when update returns nil.
// After a fault in it nothing is written any more: more writing on a damaged
// file does more damage.
func (s *Store) update(fn func(*bbolt.Tx) error) error {
	if f := s.broken.Load(); f != nil {
		return f
	}
	err := guarded(func() error { return s.db.Update(fn) })
	if f, ok := errors.AsType[*fault](err); ok {
		s.broken.Store(f)
	}
	return err
}

// fault is a panic or a memory fault met inside bbolt. It is an ErrDamaged.
type fault struct{ cause any }

func (f *fault) Error() string        { return fmt.Sprintf("%v (%v)", ErrDamaged, f.cause) }
func (f *fault) Is(target error) bool { return target == ErrDamaged }

// guarded calls fn and turns a panic in it into a fault. bbolt trusts the file:
// a torn page makes it panic, and a page beyond the end of a shortened file is a
// memory fault of its mapping, which would end the process.
func guarded(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &fault{cause: p}
		}
	}()
	return fn()
}
