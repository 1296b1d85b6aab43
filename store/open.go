package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Config of Open.
type Config struct {
	Dir  string        // data folder; made if missing (0700)
	Wait time.Duration // for the lock; 0: 1 s
	// Board is asked while the database is built anew, with each job: what the
	// target says about its hours. nil, or an error: hours stay empty.
	Board func(Job) (Board, error)
	// WasSealed is asked at Open for each run that was begun and never ended:
	// true means that the target says "sealed" with this run's id. nil: false.
	WasSealed func(Job, Run) (Hour, bool)
	Now       func() time.Time // nil: time.Now
}

const (
	dbName   = "hourhand.db"
	lockName = "hourhand.lock"

	// checkBudget bounds the check of the file before it is opened: a start must
	// not wait for a file index of a gigabyte on a slow disk.
	checkBudget = 2 * time.Second
)

// Open opens or makes DIR/hourhand.db. A damaged file is put aside as
// hourhand.db.damaged-TIME and a new one is built from jobs.json, the newest
// daily copy and the targets; Rebuilt then tells so. Runs that were begun and
// never ended end now, as Interrupted. ErrLocked: another process has it;
// ErrNewer: a newer schema.
func Open(c Config) (*Store, error) {
	if c.Wait == 0 {
		c.Wait = time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	s := &Store{dir: c.Dir, now: c.Now}
	if err := s.takeLock(c.Wait); err != nil {
		return nil, err
	}
	if err := s.open(c); err != nil {
		return nil, errors.Join(fmt.Errorf("open the data folder %s: %w", c.Dir, err), s.Close())
	}
	return s, nil
}

// takeLock takes the lock beside the database. Not the database's own: that one
// would go with the file when it is put aside or replaced, and let a second
// process in between.
func (s *Store) takeLock(wait time.Duration) error {
	s.lock = flock.New(filepath.Join(s.dir, lockName), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	ok, err := s.lock.TryLockContext(ctx, 20*time.Millisecond)
	switch {
	case ok:
		return nil
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		return locked(s.dir)
	}
	return fmt.Errorf("lock the data folder: %w", err)
}

func locked(dir string) error {
	return fmt.Errorf("%w: %s; quit it first, or choose another folder with --data", ErrLocked, dir)
}

func (s *Store) open(c Config) error {
	if err := sweep(s.dir); err != nil {
		return err
	}
	err := s.openDB()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		if err = s.rebuild(c, err); err == nil {
			err = s.openDB()
		}
	}
	if err != nil {
		return err
	}
	if err := s.compact(); err != nil {
		return err
	}
	s.keepCopy()
	if err := s.reconcileJobs(); err != nil {
		return err
	}
	return s.endInterrupted(c.WasSealed)
}

func (s *Store) path() string { return filepath.Join(s.dir, dbName) }

// openDB opens a sound file of this schema. fs.ErrNotExist, ErrDamaged, ErrNewer,
// ErrLocked; the file is as it was, and closed.
func (s *Store) openDB() (err error) {
	info, err := os.Stat(s.path())
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return fs.ErrNotExist // bbolt was stopped before its first write
	}
	if err := s.tryLock(); err != nil {
		return err
	}
	s.db, err = openSound(s.path())
	return err
}

// tryLock is for the day when somebody removed the lock file under a running
// Hourhand: two would hold the folder's lock, but not the database's own. ErrLocked.
func (s *Store) tryLock() error {
	var reader *bbolt.DB
	err := guarded(func() (err error) {
		reader, err = bbolt.Open(s.path(), 0o600, &bbolt.Options{ReadOnly: true, Timeout: boltWait})
		return err
	})
	if errors.Is(err, berrors.ErrTimeout) {
		return locked(s.dir)
	}
	if reader != nil {
		return reader.Close()
	}
	return nil // whatever it is, openSound finds out
}

// openSound opens a database whose pages and values are right, and lifts its
// schema. ErrDamaged, ErrNewer.
func openSound(path string) (*database, error) {
	if err := checkFile(path, checkBudget); err != nil {
		return nil, err
	}
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	if err := db.prepare(); err != nil {
		return nil, errors.Join(err, db.close())
	}
	return db, nil
}

// prepare lifts an older schema and reads the values that matter.
func (db *database) prepare() error {
	version := 0
	err := db.view(func(tx *bbolt.Tx) (err error) {
		version, err = schemaOf(tx)
		return err
	})
	switch {
	case err != nil:
		return err
	case version == 0:
		return fmt.Errorf("%w (nothing in it)", ErrDamaged)
	case version < len(migrations):
		if err := db.update(migrate); err != nil {
			return err
		}
	}
	return db.view(checkValues)
}

// endInterrupted ends the runs that were at work when the process or the machine
// died.
func (s *Store) endInterrupted(wasSealed func(Job, Run) (Hour, bool)) error {
	var ids []string
	err := s.db.view(func(tx *bbolt.Tx) error {
		for id := range ascend(tx.Bucket(bucketRunning), "") {
			ids = append(ids, string(id))
		}
		return nil
	})
	for _, id := range ids {
		if err == nil {
			err = s.endDead(id, wasSealed)
		}
	}
	return err
}

func (s *Store) endDead(id string, wasSealed func(Job, Run) (Hour, bool)) error {
	r, err := s.Run(id)
	var j Job
	if err == nil {
		j, err = s.Job(r.Job)
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDamaged) { // a rotten record must not keep the store shut
		return s.db.update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketRunning).Delete([]byte(id)) })
	}
	if err != nil {
		return err
	}
	hour := sealedHour(j, r, wasSealed)
	r = asDead(r, hour, sane(s.now()))
	return s.db.update(func(tx *bbolt.Tx) error { return endRun(tx, r, hour) })
}

// sealedHour is what the target sealed in the name of a run, nil: nothing.
func sealedHour(j Job, r Run, wasSealed func(Job, Run) (Hour, bool)) *Hour {
	if wasSealed == nil {
		return nil
	}
	h, ok := wasSealed(j, r)
	if !ok {
		return nil
	}
	return &h
}

// asDead gives a run that never ended its end: the one that its hour tells, or now.
func asDead(r Run, hour *Hour, now time.Time) Run {
	if hour == nil {
		r.Outcome, r.Cause, r.Ended = Interrupted, "interrupted", now
		r.Reason = "Hourhand or the computer stopped while this run was at work."
		return r
	}
	r.Outcome, r.Sealed, r.Ended = Done, true, sane(hour.To)
	if r.Ended.IsZero() {
		r.Ended = now
	}
	r.Notes = append(r.Notes, "Hourhand stopped after the copy was sealed, before the run was recorded: its counts are not known.")
	return r
}
