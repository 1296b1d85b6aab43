package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// database is an open bbolt file whose damage is an error, never the end of the
// process.
type database struct {
	bolt *bbolt.DB
	file *os.File // the handle that bolt works on, see close

	// broken is set once a transaction died half-way. Locks inside bbolt may be
	// held for ever then, so nothing enters it again.
	broken atomic.Pointer[fault]
}

// boltWait is one try for bbolt's lock; zero would mean for ever.
const boltWait = time.Millisecond

// openDatabase opens a file that checkFile has passed, or makes a new one.
// ErrLocked, ErrDamaged.
func openDatabase(path string) (*database, error) {
	var db database
	options := bbolt.Options{
		Timeout:      boltWait,
		FreelistType: bbolt.FreelistMapType, // the other one is slow once an index was dropped
		OpenFile: func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
			db.file, err = os.OpenFile(name, flag, mode)
			return db.file, err
		},
	}
	err := guarded(func() (err error) {
		db.bolt, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	switch {
	case err == nil:
		return &db, nil
	case errors.Is(err, berrors.ErrTimeout):
		return nil, locked(filepath.Dir(path))
	case errors.Is(err, ErrDamaged):
		err = errors.Join(err, db.abandon())
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		err = fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	return nil, err
}

// close waits for transactions at work. Closing again does nothing.
func (db *database) close() error {
	if db.broken.Load() != nil {
		return db.abandon() // bbolt's own Close could wait for ever
	}
	return db.bolt.Close()
}

// abandon gives the file back without bbolt, whose mapping of it stays until the
// process ends, and with it the lock if that is not released.
func (db *database) abandon() error { return errors.Join(unlock(db.file), db.file.Close()) }

// view runs fn in a read transaction. Damage that bbolt or fn trips over comes
// back as ErrDamaged.
func (db *database) view(fn func(*bbolt.Tx) error) error {
	if f := db.broken.Load(); f != nil {
		return f
	}
	entered := false
	err := guarded(func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			entered = true
			return fn(tx)
		})
	})
	if f, ok := errors.AsType[*fault](err); ok && !entered {
		db.broken.Store(f)
	}
	return err
}

// update runs fn in a write transaction that is durable when update returns nil.
// After a fault in it nothing is written any more: more writing on a damaged
// file does more damage.
func (db *database) update(fn func(*bbolt.Tx) error) error {
	if f := db.broken.Load(); f != nil {
		return f
	}
	err := guarded(func() error { return db.bolt.Update(fn) })
	if f, ok := errors.AsType[*fault](err); ok {
		db.broken.Store(f)
	}
	return err
}

// fault is a panic or a memory fault met inside bbolt. It is an ErrDamaged.
type fault struct{ cause any }

func (f *fault) Error() string {
	return fmt.Sprintf("%v (%v); restart Hourhand, it builds a new one", ErrDamaged, f.cause)
}

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
