package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.etcd.io/bbolt"
)

// Job is what is copied, from where, to where, when and how.
type Job struct {
	ID                string    `json:"id"`   // random, for ever
	Name              string    `json:"name"` // unique, shown everywhere; letters, digits, blank, - _ .
	Source            string    `json:"source"`
	Target            string    `json:"target"`
	Mode              string    `json:"mode"`            // "mirror" or "changes"
	Schedule          string    `json:"schedule"`        // cron, five fields, local time; "" = only by hand
	Keep              string    `json:"keep,omitempty"`  // mode changes: Go duration or "2d"
	Verify            string    `json:"verify"`          // "full", "source", "none"
	Profile           string    `json:"profile"`         // "gentle", "normal", "full"
	Limit             int64     `json:"limit,omitempty"` // bytes/s, 0 = none
	Workers           int       `json:"workers,omitempty"`
	Retries           int       `json:"retries"`
	RetryWait         string    `json:"retry_wait,omitempty"`
	MaxDelete         string    `json:"max_delete,omitempty"` // "N" or "P%"; "" = the default
	Excludes          []string  `json:"excludes,omitempty"`
	NoDefaultExcludes bool      `json:"no_default_excludes,omitempty"`
	DeleteExcluded    bool      `json:"delete_excluded,omitempty"`
	Checksum          bool      `json:"checksum,omitempty"`
	TrustIndex        bool      `json:"trust_index,omitempty"`
	Disabled          bool      `json:"disabled,omitempty"`
	Created           time.Time `json:"created"`
}

// JobError is a job that cannot be stored: which field is wrong, and the sentence
// for a person.
type JobError struct {
	Field string // "id", "name", "source", "target", "excludes"
	Text  string
}

func (e *JobError) Error() string { return e.Text }

// Jobs lists all jobs by name.
func (s *Store) Jobs() ([]Job, error) {
	var jobs []Job
	err := s.db.view(func(tx *bbolt.Tx) (err error) {
		jobs, err = allJobs(tx)
		return err
	})
	return jobs, err
}

func allJobs(tx *bbolt.Tx) ([]Job, error) {
	var jobs []Job
	for _, value := range ascend(tx.Bucket(bucketJobs), "") {
		var j Job
		if err := decode(value, &j); err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(foldText(a.Name), foldText(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return jobs, nil
}

func hasJob(tx *bbolt.Tx, id string) bool {
	return tx.Bucket(bucketJobs).Get([]byte(id)) != nil
}

// Job finds a job by id or by name, whose case does not matter. ErrNotFound.
func (s *Store) Job(idOrName string) (Job, error) {
	jobs, err := s.Jobs()
	if err != nil {
		return Job{}, err
	}
	for _, same := range []func(Job) bool{
		func(j Job) bool { return j.ID == idOrName },
		func(j Job) bool { return foldText(j.Name) == foldText(idOrName) },
	} {
		if i := slices.IndexFunc(jobs, same); i >= 0 {
			return jobs[i], nil
		}
	}
	return Job{}, fmt.Errorf("job %q: %w", idOrName, ErrNotFound)
}

// PutJob adds or replaces a job (by ID; "" gets a new one) and writes
// jobs.json durably. It returns the stored job. A *JobError if the name is not
// one, or another job has the name or the target.
func (s *Store) PutJob(j Job) (Job, error) {
	if j.ID == "" {
		j.ID = randomHex(8)
	}
	err := s.changeJobs(func(tx *bbolt.Tx) error {
		jobs, err := allJobs(tx)
		if err != nil {
			return err
		}
		if old := slices.IndexFunc(jobs, func(o Job) bool { return o.ID == j.ID }); old >= 0 && j.Created.IsZero() {
			j.Created = jobs[old].Created
		}
		if j.Created.IsZero() {
			j.Created = s.now()
		}
		j.Created = sane(j.Created)
		if err := checkJob(j, jobs); err != nil {
			return err
		}
		return put(tx.Bucket(bucketJobs), j.ID, j)
	})
	if err != nil {
		return Job{}, err
	}
	return j, nil
}

// RemoveJob forgets a job with its board, runs and index; folders stay.
// ErrNotFound.
func (s *Store) RemoveJob(id string) error {
	return s.changeJobs(func(tx *bbolt.Tx) error {
		if !hasJob(tx, id) {
			return fmt.Errorf("job %q: %w", id, ErrNotFound)
		}
		return forgetJob(tx, id)
	})
}

func forgetJob(tx *bbolt.Tx, id string) error {
	for key := range ascend(tx.Bucket(bucketJobRuns), id+"/") {
		run := key[len(id)+1:]
		err := errors.Join(
			tx.Bucket(bucketRuns).Delete(run),
			tx.Bucket(bucketRunning).Delete(run),
			tx.Bucket(bucketProblems).Delete(run),
		)
		if err != nil {
			return err
		}
	}
	for _, bucket := range [][]byte{bucketJobRuns, bucketBoards, bucketDues, bucketIndexed} {
		if err := removePrefix(tx.Bucket(bucket), id+"/"); err != nil {
			return err
		}
	}
	if err := dropIndex(tx, id); err != nil {
		return err
	}
	return tx.Bucket(bucketJobs).Delete([]byte(id))
}

// changeJobs runs a change of jobs and writes jobs.json before it is committed. A
// change that was told to a caller is in both; one that a power cut ended between
// is made good at Open.
func (s *Store) changeJobs(change func(*bbolt.Tx) error) error {
	s.jobs.Lock()
	defer s.jobs.Unlock()
	written := false
	err := s.db.update(func(tx *bbolt.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		jobs, err := allJobs(tx)
		if err != nil {
			return err
		}
		written = true
		return writeJobs(s.dir, jobs)
	})
	if err != nil && written {
		// The change did not last: jobs.json must not tell it either.
		err = errors.Join(err, s.rewriteJobs())
	}
	return err
}

// checkJob tells whether j can stand beside the other jobs. *JobError.
func checkJob(j Job, jobs []Job) error {
	if !validID(j.ID) {
		return &JobError{"id", fmt.Sprintf("%q cannot be the id of a job", j.ID)}
	}
	if !validName(j.Name) {
		return &JobError{"name", fmt.Sprintf("%q cannot be the name of a job; "+
			"use 1 to 64 letters, digits, blanks and - _ . with no blank at the ends", j.Name)}
	}
	if !utf8.ValidString(j.Source) || !utf8.ValidString(j.Target) {
		field, path := "source", j.Source
		if utf8.ValidString(path) {
			field, path = "target", j.Target
		}
		return &JobError{field, fmt.Sprintf("the name of the %s folder is not text (UTF-8): %q; rename it, or link to it", field, path)}
	}
	for _, pattern := range j.Excludes {
		if !utf8.ValidString(pattern) {
			return &JobError{"excludes", fmt.Sprintf("the pattern is not text (UTF-8): %q", pattern)}
		}
	}
	return checkUnique(j, jobs)
}

func checkUnique(j Job, jobs []Job) error {
	for _, o := range jobs {
		switch {
		case o.ID == j.ID:
		case foldText(o.Name) == foldText(j.Name):
			return &JobError{"name", fmt.Sprintf("another job is named %q; choose another name", o.Name)}
		case j.Target != "" && sameTarget(o.Target, j.Target):
			return &JobError{"target", fmt.Sprintf("the job %q has this target already: %s; each job needs its own", o.Name, o.Target)}
		}
	}
	return nil
}

func sameTarget(a, b string) bool {
	a, b = filepath.Clean(a), filepath.Clean(b)
	if runtime.GOOS == "windows" {
		return foldText(a) == foldText(b)
	}
	return a == b
}

// validName keeps names fit for a command line, a file name and a page.
func validName(name string) bool {
	if name == "" || utf8.RuneCountInString(name) > 64 || strings.Trim(name, " ") != name {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune(" -_.", r)
	}) < 0 && utf8.ValidString(name)
}
