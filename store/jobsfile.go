package store

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
)

// jobsFile is jobs.json: every job, so that a lost database loses none. A change
// of jobs is written here first, then committed to the database.
type jobsFile struct {
	Version int    `json:"version"` // 1
	Jobs    []Job  `json:"jobs"`
	Sum     string `json:"sum"` // XXH3-128 of the compact JSON of jobs, hex

	intact bool // Sum is right: these are the jobs that were written
	odd    int  // entries that cannot be jobs, left out of Jobs
}

const jobsName = "jobs.json"

func encodeJobs(jobs []Job) ([]byte, error) {
	f := jobsFile{Version: 1, Jobs: append([]Job{}, jobs...)}
	var err error
	if f.Sum, err = sumJobs(f.Jobs); err != nil {
		return nil, err
	}
	plain, err := encode(f)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, plain, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func sumJobs(jobs []Job) (string, error) {
	plain, err := encode(jobs)
	sum := xxh3.Hash128(plain).Bytes()
	return hex.EncodeToString(sum[:]), err
}

func writeJobs(dir string, jobs []Job) error {
	data, err := encodeJobs(jobs)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, jobsName), data); err != nil {
		return fmt.Errorf("write the list of jobs: %w", err)
	}
	return nil
}

// readJobs reads jobs.json. fs.ErrNotExist, ErrNewer, ErrDamaged.
func readJobs(dir string) (jobsFile, error) {
	data, err := os.ReadFile(filepath.Join(dir, jobsName))
	if err != nil {
		return jobsFile{}, err
	}
	var f jobsFile
	if err := json.Unmarshal(data, &f); err != nil || f.Version < 1 {
		return jobsFile{}, fmt.Errorf("%w (%s: %v)", ErrDamaged, jobsName, err)
	}
	if f.Version > 1 {
		return jobsFile{}, fmt.Errorf("%w: %s has version %d; update Hourhand", ErrNewer, jobsName, f.Version)
	}
	sum, err := sumJobs(f.Jobs)
	if err != nil {
		return jobsFile{}, fmt.Errorf("%w (%s: %v)", ErrDamaged, jobsName, err)
	}
	f.intact = sum == f.Sum
	all := f.Jobs
	f.Jobs = nil
	for _, j := range all {
		if checkJob(j, f.Jobs) != nil {
			f.odd++
			continue
		}
		f.Jobs = append(f.Jobs, j)
	}
	return f, nil
}

// reconcileJobs makes the database and jobs.json tell the same jobs. A jobs.json
// whose sum is right is the truth: it is written first, and its bytes are proved.
// Any other is written anew; one that cannot be read is kept beside.
func (s *Store) reconcileJobs() error {
	f, err := readJobs(s.dir)
	switch {
	case err == nil && f.intact:
		same, err := s.hasJobs(f.Jobs)
		if err != nil || same {
			return err
		}
		return s.db.update(func(tx *bbolt.Tx) error { return replaceJobs(tx, f.Jobs) })
	case errors.Is(err, ErrDamaged):
		if _, err := putAside(filepath.Join(s.dir, jobsName), s.now()); err != nil {
			return err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return s.rewriteJobs()
}

// hasJobs tells whether the database holds these jobs.
func (s *Store) hasJobs(jobs []Job) (bool, error) {
	have, err := s.Jobs()
	if err != nil {
		return false, err
	}
	a, err := encodeJobs(have)
	if err != nil {
		return false, err
	}
	b, err := encodeJobs(jobs)
	return bytes.Equal(a, b), err
}

// rewriteJobs writes jobs.json from the database.
func (s *Store) rewriteJobs() error {
	jobs, err := s.Jobs()
	if err != nil {
		return err
	}
	return writeJobs(s.dir, jobs)
}
