package store

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// The retention: a bit over a year, so that last year's run of a day can be
// looked up; 20,000 runs are two years of an hourly job and some 16 MB; problems
// of 32 MB are 200 full lists.
const (
	keepAge      = 400 * 24 * time.Hour
	keepRuns     = 20_000
	keepProblems = 32 << 20
	trimBatch    = 2_000
)

// Trim applies the retention: runs older than 400 days or beyond 20,000 per job
// go, with their problems; the newest run of each hour always stays. Problem
// lists beyond 32 MB per job go too, oldest first; their counts stay. Age is
// measured from the newest run, so that a clock that jumps ahead, or a job that
// rested for a year, loses nothing.
func (s *Store) Trim() error {
	jobs, err := s.Jobs()
	for _, j := range jobs {
		err = errors.Join(err, s.trimJob(j.ID))
	}
	return err
}

func (s *Store) trimJob(job string) error {
	var drop trimList
	err := s.db.view(func(tx *bbolt.Tx) error {
		drop = findTrim(tx, job)
		return nil
	})
	for err == nil && drop.len() > 0 {
		batch := drop.take(trimBatch)
		err = s.db.update(func(tx *bbolt.Tx) error { return batch.remove(tx, job) })
	}
	if err != nil {
		return fmt.Errorf("trim the history: %w", err)
	}
	return nil
}

// trimList is what a job has too much of.
type trimList struct {
	runs     []string // whole runs
	problems []string // runs that lose their list of problems
}

func (l *trimList) len() int { return len(l.runs) + len(l.problems) }

// take splits off the first n of each.
func (l *trimList) take(n int) trimList {
	r, p := min(n, len(l.runs)), min(n, len(l.problems))
	batch := trimList{l.runs[:r], l.problems[:p]}
	l.runs, l.problems = l.runs[r:], l.problems[p:]
	return batch
}

// findTrim goes through the runs of a job, newest first.
func findTrim(tx *bbolt.Tx, job string) trimList {
	var drop trimList
	var cutoff time.Time
	seen := map[string]bool{} // hours whose newest run was met
	count, size := 0, 0
	for key, hour := range descend(tx.Bucket(bucketJobRuns), job+"/", "") {
		id := string(key[len(job)+1:])
		newest := !seen[string(hour)]
		seen[string(hour)] = true
		count++
		r, err := get[struct{ Started time.Time }](tx.Bucket(bucketRuns), id)
		if err != nil {
			drop.runs = append(drop.runs, id) // rotten
			continue
		}
		if cutoff.IsZero() {
			cutoff = r.Started.Add(-keepAge)
		}
		if !newest && (count > keepRuns || r.Started.Before(cutoff)) {
			drop.runs = append(drop.runs, id)
			continue
		}
		length := len(tx.Bucket(bucketProblems).Get([]byte(id)))
		if size += length; length > 0 && size > keepProblems {
			drop.problems = append(drop.problems, id)
		}
	}
	return drop
}

func (l *trimList) remove(tx *bbolt.Tx, job string) error {
	for _, id := range l.runs {
		err := errors.Join(
			removeDue(tx, job, id),
			tx.Bucket(bucketRuns).Delete([]byte(id)),
			tx.Bucket(bucketJobRuns).Delete([]byte(job+"/"+id)),
			tx.Bucket(bucketRunning).Delete([]byte(id)),
			tx.Bucket(bucketProblems).Delete([]byte(id)),
		)
		if err != nil {
			return err
		}
	}
	for _, id := range l.problems {
		if err := tx.Bucket(bucketProblems).Delete([]byte(id)); err != nil {
			return err
		}
	}
	return nil
}

// removeDue forgets the due of a run, unless it is the newest one: LastDue never
// goes back.
func removeDue(tx *bbolt.Tx, job, id string) error {
	r, err := get[struct{ Due time.Time }](tx.Bucket(bucketRuns), id)
	if err != nil || r.Due.IsZero() {
		return nil
	}
	dues, key := tx.Bucket(bucketDues), dueKey(job, r.Due)
	if owner, err := get[string](dues, key); err != nil || owner != id {
		return nil // another run stands for this due
	}
	for newest := range descend(dues, job+"/", "") {
		if string(newest) == key {
			return nil
		}
		break
	}
	return dues.Delete([]byte(key))
}
