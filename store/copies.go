package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// Daily copies of the database, for the history alone: jobs are in jobs.json,
// hours on the targets, and the file index can be built again.
const (
	copyInfix  = ".copy-"
	copyAge    = 24 * time.Hour
	keepCopies = 3
)

// copiedBuckets is all but the file index.
var copiedBuckets = [][]byte{
	bucketJobs, bucketBoards, bucketRuns, bucketJobRuns, bucketRunning, bucketDues, bucketProblems, bucketSettings,
}

// keepCopy takes a copy if the newest one is over a day old and there is a
// history. A copy that fails is no reason not to start: on a full disk the user
// needs the dashboard most.
func (s *Store) keepCopy() {
	if runs, err := s.runsBefore("", ""); err != nil || len(runs) == 0 {
		return
	}
	now := sane(s.now()).UTC()
	copies, ahead := listCopies(s.dir, now)
	if n := len(copies); n > 0 && now.Sub(copyTime(copies[n-1])) < copyAge {
		return
	}
	path := s.path() + copyInfix + now.Format(stampLayout)
	if err := s.copyTo(path); err != nil {
		return
	}
	// Names ahead of the clock come first: they say nothing about their age.
	all := append(append(ahead, copies...), path)
	for _, old := range all[:max(0, len(all)-keepCopies)] {
		os.Remove(old)
	}
}

// listCopies lists the copies, oldest first; those dated after now apart.
func listCopies(dir string, now time.Time) (copies, ahead []string) {
	entries, _ := os.ReadDir(dir) // sorted, so by time
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch t := copyTime(path); {
		case t.IsZero(): // another file, or a copy that was not finished
		case t.After(now):
			ahead = append(ahead, path)
		default:
			copies = append(copies, path)
		}
	}
	return copies, ahead
}

// copyTime is the time in the name of a copy, zero if there is none.
func copyTime(path string) time.Time {
	stamp := strings.TrimPrefix(filepath.Base(path), dbName+copyInfix)
	t, err := time.Parse(stampLayout, stamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// copyTo writes all but the file index into a new database, durably.
func (s *Store) copyTo(path string) error {
	err := newDatabase(path, func(to *database) error {
		return s.db.view(func(from *bbolt.Tx) error { return copyBuckets(to, from) })
	})
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return nil
}

// newDatabase lets fill write a new database, which takes the name path once it
// is whole and durable. A file of that name is replaced.
func newDatabase(path string, fill func(*database) error) error {
	temp := path + tempSuffix
	os.Remove(temp)
	db, err := openDatabase(temp)
	if err != nil {
		return err
	}
	db.bolt.NoSync = true // one Sync at the end
	err = fill(db)
	if err == nil {
		err = db.bolt.Sync()
	}
	err = errors.Join(err, db.close())
	if err == nil {
		err = rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// copyBatch bounds the memory of a copy: bbolt holds a transaction's pages.
const copyBatch = 4 << 20

func copyBuckets(to *database, from *bbolt.Tx) error {
	if err := to.update(migrate); err != nil {
		return err
	}
	type entry struct{ bucket, key, value []byte }
	var batch []entry
	size := 0
	flush := func() error {
		return to.update(func(tx *bbolt.Tx) error {
			for _, e := range batch {
				b := tx.Bucket(e.bucket)
				b.FillPercent = 1 // they come in order, and nothing follows
				if err := b.Put(e.key, e.value); err != nil {
					return err
				}
			}
			batch, size = batch[:0], 0
			return nil
		})
	}
	for _, bucket := range copiedBuckets {
		for key, value := range ascend(from.Bucket(bucket), "") {
			batch = append(batch, entry{bucket, key, value})
			if size += len(key) + len(value); size < copyBatch {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// The database is compacted at Open when more than half of it, and over 8 MB, is
// free: bbolt itself never gives space back.
const (
	compactFrom   = 8 << 20
	compactSuffix = ".compact"
)

// compact writes the database anew without its free pages and opens that.
func (s *Store) compact() error {
	info, err := os.Stat(s.path())
	if err != nil {
		return err
	}
	stats := s.db.bolt.Stats()
	free := int64(stats.FreePageN+stats.PendingPageN) * int64(s.db.bolt.Info().PageSize)
	if free < compactFrom || free < info.Size()/2 {
		return nil
	}
	// newDatabase cannot take the place of an open file, on Windows: so a name of
	// its own first.
	small := s.path() + compactSuffix
	err = newDatabase(small, func(to *database) error {
		return guarded(func() error { return bbolt.Compact(to.bolt, s.db.bolt, copyBatch) })
	})
	if err != nil {
		return nil // no space for it: the old file serves as well
	}
	if err := s.db.close(); err != nil {
		return err
	}
	if rename(small, s.path()) != nil {
		os.Remove(small) // the old file is still there
	}
	return s.openDB()
}
