package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// jobsFile is jobs.json: every job, so that a lost database loses none.
type jobsFile struct {
	Version int   `json:"version"` // 1
	Jobs    []Job `json:"jobs"`
}

const jobsName = "jobs.json"

func encodeJobs(jobs []Job) ([]byte, error) {
	plain, err := encode(jobsFile{Version: 1, Jobs: append([]Job{}, jobs...)})
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

// readJobs reads jobs.json. fs.ErrNotExist, ErrNewer, ErrDamaged. Jobs that
// cannot be right are left out and counted.
func readJobs(dir string) (jobs []Job, odd int, err error) {
	data, err := os.ReadFile(filepath.Join(dir, jobsName))
	if err != nil {
		return nil, 0, err
	}
	var f jobsFile
	if err := json.Unmarshal(data, &f); err != nil || f.Version < 1 {
		return nil, 0, fmt.Errorf("%w (%s: %v)", ErrDamaged, jobsName, err)
	}
	if f.Version > 1 {
		return nil, 0, fmt.Errorf("%w: %s has version %d; update Hourhand", ErrNewer, jobsName, f.Version)
	}
	for _, j := range f.Jobs {
		if checkJob(j, jobs) != nil {
			odd++
			continue
		}
		j.Created = sane(j.Created)
		jobs = append(jobs, j)
	}
	return jobs, odd, nil
}

// syncJobs makes jobs.json tell what the database holds. A file that cannot be
// read as jobs is kept beside.
func (s *Store) syncJobs() error {
	var want []byte
	err := s.view(func(tx *bbolt.Tx) error {
		jobs, err := allJobs(tx)
		if err != nil {
			return err
		}
		want, err = encodeJobs(jobs)
		return err
	})
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, jobsName)
	have, err := os.ReadFile(path)
	if err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err == nil && json.Unmarshal(have, new(jobsFile)) != nil {
		if _, err := putAside(path, s.now()); err != nil {
			return err
		}
	}
	return writeFile(path, want)
}
