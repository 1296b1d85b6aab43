package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"go.etcd.io/bbolt"
)

// Outcomes of a run.
const (
	Running     = "running" // begun and not ended
	Done        = "done"
	Partial     = "partial"
	Held        = "held"
	Failed      = "failed"
	Cancelled   = "cancelled"
	Skipped     = "skipped"     // not started, with the reason
	Missed      = "missed"      // its due passed unrun
	Interrupted = "interrupted" // process or machine died
)

// Count is a number of files and their bytes.
type Count struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Run is one execution of a job, or one that did not happen (skipped, missed).
// The JSON is what `history --json` prints for it.
type Run struct {
	ID      string    `json:"id"`  // sorts by time of beginning
	Job     string    `json:"job"` // job id
	JobName string    `json:"job_name"`
	Hour    int       `json:"hour"`         // -1: a one-shot
	Due     time.Time `json:"due,omitzero"` // zero: made by hand
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	Trigger string    `json:"trigger"` // "schedule", "catch-up", "hand", "fill", "approve"
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // why it was held, skipped, failed ...: a sentence
	Cause   string    `json:"cause,omitempty"`  // short key of the reason, for hints

	Copied       Count           `json:"copied"`
	Updated      Count           `json:"updated"`
	Removed      Count           `json:"removed"`
	Moved        Count           `json:"moved"`
	Unchanged    Count           `json:"unchanged"`
	LeftOut      LeftOut         `json:"left_out"`
	Verified     Verified        `json:"verified"`
	ProblemCount int64           `json:"problem_count"`
	Notes        []string        `json:"notes,omitempty"`
	Plan         json.RawMessage `json:"plan,omitempty"` // of a held run: engine.Plan
	Sealed       bool            `json:"sealed"`
	Changed      bool            `json:"changed"`
}

// LeftOut counts what rules and kinds of file keep out.
type LeftOut struct {
	Excluded int64 `json:"excluded"`
	Special  int64 `json:"special"`
	Mount    int64 `json:"mount"`
}

// Verified counts files by how their bytes were proved.
type Verified struct {
	Device Count `json:"device"`
	Cache  Count `json:"cache"`
	Server Count `json:"server"`
	Source Count `json:"source"`
}

// Begin records that a run starts, durably, before its first change. It fills in
// an empty ID, JobName and Started (now), and returns the stored run.
// ErrNotFound: no such job.
func (s *Store) Begin(r Run) (Run, error) {
	r.Outcome, r.Ended = Running, time.Time{}
	if r.Started.IsZero() {
		r.Started = s.now()
	}
	err := s.db.update(func(tx *bbolt.Tx) error {
		if err := admit(tx, &r); err != nil {
			return err
		}
		if tx.Bucket(bucketRuns).Get([]byte(r.ID)) != nil {
			return fmt.Errorf("run %s has begun already", r.ID)
		}
		if err := put(tx.Bucket(bucketRunning), r.ID, r.Job); err != nil {
			return err
		}
		return putRun(tx, r)
	})
	return r, err
}

// Finish records a run's end, its problems (the first MaxProblems of them) and
// the hour's field of the board, in one transaction. hour nil: the board's
// content stays, only LastRun, Outcome and At change. It is also the way to
// record a run that never began (skipped, missed): with no Begin before; it gets
// an ID if it has none, and begins at its due. A zero Ended is now. ErrNotFound:
// the job was removed meanwhile.
func (s *Store) Finish(r Run, problems []Problem, hour *Hour) error {
	if r.Outcome == "" || r.Outcome == Running {
		return fmt.Errorf("finish run %s: it has no outcome", r.ID)
	}
	if r.Started.IsZero() {
		r.Started = r.Due
	}
	if r.Ended.IsZero() {
		r.Ended = s.now()
	}
	if r.Started.IsZero() {
		r.Started = r.Ended
	}
	r.ProblemCount = max(r.ProblemCount, int64(len(problems)))
	return s.db.update(func(tx *bbolt.Tx) error {
		if err := admit(tx, &r); err != nil {
			return err
		}
		return errors.Join(endRun(tx, r, hour), putProblems(tx, r.ID, problems))
	})
}

// endRun writes a run that has an outcome, and shows it on the board.
func endRun(tx *bbolt.Tx, r Run, hour *Hour) error {
	return errors.Join(
		tx.Bucket(bucketRunning).Delete([]byte(r.ID)),
		putRun(tx, r),
		endHour(tx, r, hour),
	)
}

// admit completes a run and refuses what cannot be a key.
func admit(tx *bbolt.Tx, r *Run) error {
	j, err := get[Job](tx.Bucket(bucketJobs), r.Job)
	if err != nil {
		return fmt.Errorf("job %s: %w", r.Job, err)
	}
	for _, t := range []*time.Time{&r.Due, &r.Started, &r.Ended} {
		*t = sane(*t)
	}
	if r.JobName == "" {
		r.JobName = j.Name
	}
	if r.ID == "" {
		r.ID = runID(r.Started)
	}
	if !validID(r.ID) {
		return fmt.Errorf("%q cannot be the id of a run", r.ID)
	}
	return nil
}

func putRun(tx *bbolt.Tx, r Run) error {
	if err := put(growing(tx, bucketRuns), r.ID, r); err != nil {
		return fmt.Errorf("run %s: %w", r.ID, err)
	}
	if err := put(growing(tx, bucketJobRuns), r.Job+"/"+r.ID, r.Hour); err != nil {
		return err
	}
	if r.Due.IsZero() {
		return nil
	}
	return put(growing(tx, bucketDues), dueKey(r.Job, r.Due), r.ID)
}

// growing is a bucket whose keys mostly come in order: bbolt leaves half of each
// page free for entries between, unless told.
func growing(tx *bbolt.Tx, name []byte) *bbolt.Bucket {
	b := tx.Bucket(name)
	b.FillPercent = 0.95
	return b
}

// Run finds a run. ErrNotFound.
func (s *Store) Run(id string) (Run, error) {
	var r Run
	err := s.db.view(func(tx *bbolt.Tx) (err error) {
		r, err = get[Run](tx.Bucket(bucketRuns), id)
		return err
	})
	if err != nil {
		return Run{}, fmt.Errorf("run %s: %w", id, err)
	}
	return r, nil
}

// runChunk is how many runs Runs reads in one transaction: a page of history.
const runChunk = 100

// Runs yields the runs of a job, newest first; job "" = of all jobs. It reads in
// several transactions: runs that begin meanwhile may be missing. A run whose
// record cannot be read is passed over.
func (s *Store) Runs(job string) iter.Seq2[Run, error] {
	return func(yield func(Run, error) bool) {
		before := ""
		for {
			runs, err := s.runsBefore(job, before)
			if err != nil {
				yield(Run{}, err)
				return
			}
			for _, r := range runs {
				if !yield(r, nil) {
					return
				}
				before = r.ID
			}
			if len(runs) < runChunk {
				return
			}
		}
	}
}

// runsBefore reads the next runChunk runs older than the run before.
func (s *Store) runsBefore(job, before string) ([]Run, error) {
	var runs []Run
	err := s.db.view(func(tx *bbolt.Tx) error {
		all := tx.Bucket(bucketRuns)
		listed, prefix := all, ""
		if job != "" {
			listed, prefix = tx.Bucket(bucketJobRuns), job+"/"
		}
		for key := range descend(listed, prefix, before) {
			r, err := get[Run](all, string(key[len(prefix):]))
			if err != nil {
				continue // rotten; one record must not hide all older ones
			}
			if runs = append(runs, r); len(runs) == runChunk {
				break
			}
		}
		return nil
	})
	return runs, err
}

// LastDue is the newest due of a job for which a run is recorded, whatever its
// outcome; zero if none.
func (s *Store) LastDue(job string) (time.Time, error) {
	var due time.Time
	err := s.db.view(func(tx *bbolt.Tx) error {
		for key := range descend(tx.Bucket(bucketDues), job+"/", "") {
			t, err := time.Parse(dueLayout, string(key[len(job)+1:]))
			if err != nil {
				continue // rotten
			}
			due = t.Local()
			break
		}
		return nil
	})
	return due, err
}

// HasDue tells whether a run for this due is recorded.
func (s *Store) HasDue(job string, due time.Time) (bool, error) {
	found := false
	err := s.db.view(func(tx *bbolt.Tx) error {
		found = tx.Bucket(bucketDues).Get([]byte(dueKey(job, due))) != nil
		return nil
	})
	return found, err
}
