package store

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// Hour is one field of a job's board: what the hour folder holds now, and what
// the latest run for it did.
type Hour struct {
	Content  string    `json:"content"` // engine.Content: "", "sealed", "writing", ...
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	Due      time.Time `json:"due,omitzero"`
	SealedBy string    `json:"sealed_by,omitempty"` // run id
	Files    Count     `json:"files"`
	Problems int64     `json:"problems,omitempty"`
	Verified Verified  `json:"verified"`
	Oldest   time.Time `json:"oldest,omitzero"` // every file read back since
	Notes    []string  `json:"notes,omitempty"`
	LastRun  string    `json:"last_run,omitempty"` // run id of the latest run for this hour
	Outcome  string    `json:"outcome,omitempty"`  // of LastRun, also skipped and missed
	At       time.Time `json:"at,omitzero"`        // when LastRun ended, or its due
}

// Board is the 24 hours of a job.
type Board [24]Hour

// Board of a job. The zero Board for a job without runs.
func (s *Store) Board(job string) (Board, error) {
	var board Board
	err := s.db.view(func(tx *bbolt.Tx) error {
		for key, value := range ascend(tx.Bucket(bucketBoards), job+"/") {
			hour, err := hourOfKey(string(key))
			if err != nil {
				return err
			}
			if err := decode(value, &board[hour]); err != nil {
				return err
			}
		}
		return nil
	})
	return board, err
}

// SetHour replaces one field of the board, after a verification.
func (s *Store) SetHour(job string, hour int, h Hour) error {
	if hour < 0 || hour > 23 {
		return fmt.Errorf("set hour %d: there is no such hour", hour)
	}
	return s.db.update(func(tx *bbolt.Tx) error {
		if !hasJob(tx, job) {
			return fmt.Errorf("job %s: %w", job, ErrNotFound)
		}
		return putHour(tx, job, hour, h)
	})
}

func hourKey(job string, hour int) string { return fmt.Sprintf("%s/%02d", job, hour) }

func hourOfKey(key string) (int, error) {
	_, text, _ := strings.Cut(key, "/")
	hour, err := strconv.Atoi(text)
	if err != nil || hour < 0 || hour > 23 {
		return 0, fmt.Errorf("%w (hour %q)", ErrDamaged, key)
	}
	return hour, nil
}

func putHour(tx *bbolt.Tx, job string, hour int, h Hour) error {
	for _, t := range []*time.Time{&h.From, &h.To, &h.Due, &h.Oldest, &h.At} {
		*t = sane(*t)
	}
	return put(tx.Bucket(bucketBoards), hourKey(job, hour), h)
}

// endHour shows the end of run r on the board. content nil: what the hour holds
// stays.
func endHour(tx *bbolt.Tx, r Run, content *Hour) error {
	if r.Hour < 0 || r.Hour > 23 {
		return nil
	}
	at := r.Ended
	unrun := r.Outcome == Skipped || r.Outcome == Missed
	if unrun && !r.Due.IsZero() {
		at = r.Due
	}
	h, err := get[Hour](tx.Bucket(bucketBoards), hourKey(r.Job, r.Hour))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if unrun && h.At.After(at) {
		return nil // told late, after a newer run of this hour
	}
	if content != nil {
		h = *content
	}
	h.LastRun, h.Outcome, h.At = r.ID, r.Outcome, at
	return putHour(tx, r.Job, r.Hour, h)
}
