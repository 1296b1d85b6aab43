package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.etcd.io/bbolt"
)

// MaxProblems is how many problems are kept per run; ProblemCount has the total.
const MaxProblems = 1000

// Problem is trouble with one file.
type Problem struct {
	Path  string `json:"path"`
	Error string `json:"error"`
	Cause string `json:"cause,omitempty"`
}

// problemJSON is a Problem on disk and on the wire. A file name may be any bytes,
// JSON holds only UTF-8: such a path comes readable in path and exact in path_b64.
type problemJSON struct {
	Path  string `json:"path"`
	Bytes []byte `json:"path_b64,omitempty"`
	Error string `json:"error"`
	Cause string `json:"cause,omitempty"`
}

func (p Problem) MarshalJSON() ([]byte, error) {
	j := problemJSON{Path: p.Path, Error: p.Error, Cause: p.Cause}
	if !utf8.ValidString(p.Path) {
		j.Bytes = []byte(p.Path)
	}
	return encode(j)
}

func (p *Problem) UnmarshalJSON(data []byte) error {
	var j problemJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*p = Problem{Path: j.Path, Error: j.Error, Cause: j.Cause}
	if j.Bytes != nil {
		p.Path = string(j.Bytes)
	}
	return nil
}

// Problems of a run, at most MaxProblems. A run without problems, or one whose
// list Trim dropped, has none; the run's ProblemCount tells which.
func (s *Store) Problems(run string) ([]Problem, error) {
	var problems []Problem
	err := s.db.view(func(tx *bbolt.Tx) (err error) {
		problems, err = get[[]Problem](tx.Bucket(bucketProblems), run)
		return err
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("problems of run %s: %w", run, err)
	}
	return problems, nil
}

func putProblems(tx *bbolt.Tx, run string, problems []Problem) error {
	b := growing(tx, bucketProblems)
	if len(problems) == 0 {
		return b.Delete([]byte(run))
	}
	return put(b, run, problems[:min(len(problems), MaxProblems)])
}
