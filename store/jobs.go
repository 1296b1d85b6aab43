package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

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
