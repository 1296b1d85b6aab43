package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// rebuild makes a new database where there is none, or only a damaged one, which
// is put aside: jobs from jobs.json, runs from the newest sound daily copy, hours
// from the targets. The new file is whole before it takes the name: a rebuild
// that dies half-way begins anew.
func (s *Store) rebuild(c Config, found error) error {
	r := rebuilder{s: s, board: c.Board, damaged: errors.Is(found, ErrDamaged)}
	if err := newDatabase(s.path(), r.fill); err != nil {
		return fmt.Errorf("build the database anew: %w", err)
	}
	if r.spoilt {
		if err := r.keep(filepath.Join(s.dir, jobsName)); err != nil {
			return err
		}
	}
	s.rebuilt = r.sentence()
	return nil
}

// rebuilder is a rebuild at work, with what its sentence will say.
type rebuilder struct {
	s     *Store
	board func(Job) (Board, error)

	damaged bool      // else there was no database
	kept    []string  // damaged files
	copied  time.Time // of the daily copy, zero: none
	jobs    []Job
	lost    string   // what is wrong with the list of jobs
	spoilt  bool     // it is there, but wrong
	unknown []string // names of jobs whose target could not tell its hours
}

func (r *rebuilder) fill(to *database) error {
	jobs, listed, err := r.readJobs()
	if err != nil {
		return err
	}
	if err := r.takeCopy(to); err != nil {
		return err
	}
	err = to.update(func(tx *bbolt.Tx) (err error) {
		if err := migrate(tx); err != nil {
			return err
		}
		if listed {
			if err := replaceJobs(tx, jobs); err != nil {
				return err
			}
		}
		r.jobs, err = allJobs(tx)
		return err
	})
	if err != nil {
		return err
	}
	boards := r.boards() // asks the targets, outside of any transaction
	err = to.update(func(tx *bbolt.Tx) error { return replaceBoards(tx, boards) })
	if err == nil && r.damaged {
		err = r.keep(r.s.path())
	}
	return err
}

// keep puts a damaged file aside.
func (r *rebuilder) keep(path string) error {
	aside, err := putAside(path, r.s.now())
	if err == nil {
		r.kept = append(r.kept, aside)
	}
	return err
}

// takeCopy writes the newest sound daily copy to an empty database, if there is
// one.
func (r *rebuilder) takeCopy(to *database) error {
	copies, ahead := listCopies(r.s.dir, sane(r.s.now()).UTC())
	for _, path := range slices.Backward(append(ahead, copies...)) {
		from, err := openSound(path)
		if err != nil {
			continue
		}
		r.copied = copyTime(path)
		err = guarded(func() error { return bbolt.Compact(to.bolt, from.bolt, copyBatch) })
		return errors.Join(err, from.close())
	}
	return nil
}

// readJobs reads jobs.json; listed is false if it tells nothing.
func (r *rebuilder) readJobs() (jobs []Job, listed bool, err error) {
	f, err := readJobs(r.s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.lost = jobsName + " is missing"
		return nil, false, nil
	case errors.Is(err, ErrDamaged):
		r.lost, r.spoilt = jobsName+" is damaged too", true
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case f.odd > 0:
		r.lost, r.spoilt = fmt.Sprintf("%d entries of %s cannot be read", f.odd, jobsName), true
	case !f.intact:
		r.lost, r.spoilt = jobsName+" was changed by something else than Hourhand", true
	}
	return f.Jobs, true, nil
}

// replaceJobs makes jobs the only ones.
func replaceJobs(tx *bbolt.Tx, jobs []Job) error {
	old, err := allJobs(tx)
	if err != nil {
		return err
	}
	for _, o := range old {
		if !slices.ContainsFunc(jobs, func(j Job) bool { return j.ID == o.ID }) {
			if err := forgetJob(tx, o.ID); err != nil {
				return err
			}
		}
	}
	for _, j := range jobs {
		if err := put(tx.Bucket(bucketJobs), j.ID, j); err != nil {
			return err
		}
	}
	return nil
}

// boards asks the targets what their hours hold.
func (r *rebuilder) boards() map[string]Board {
	boards := map[string]Board{}
	for _, j := range r.jobs {
		if r.board == nil {
			break
		}
		board, err := r.board(j)
		if err != nil {
			r.unknown = append(r.unknown, j.Name)
			continue
		}
		boards[j.ID] = board
	}
	return boards
}

// replaceBoards writes what the targets say. What a daily copy said is forgotten
// for all jobs: hours were written since, and a stale "sealed" would be a false
// promise.
func replaceBoards(tx *bbolt.Tx, boards map[string]Board) error {
	if err := removePrefix(tx.Bucket(bucketBoards), ""); err != nil {
		return err
	}
	for job, board := range boards {
		for hour, h := range board {
			if h.Content == "" && h.LastRun == "" {
				continue // never written
			}
			if err := putHour(tx, job, hour, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// sentence tells a person what was lost and what was not; "" if nothing was.
func (r *rebuilder) sentence() string {
	if !r.damaged && !r.spoilt && len(r.jobs) == 0 {
		return "" // the first start
	}
	state := "missing"
	if r.damaged {
		state = "damaged"
	}
	parts := []string{
		fmt.Sprintf("The database was %s and was built anew.", state), r.aboutJobs(), r.aboutRuns(),
		"The copies themselves are not touched.",
	}
	if len(r.unknown) > 0 {
		parts = append(parts, fmt.Sprintf("What the hours of %s hold is not known until their target is connected.",
			strings.Join(r.unknown, ", ")))
	}
	for _, path := range r.kept {
		parts = append(parts, fmt.Sprintf("The damaged file is kept: %s.", path))
	}
	return strings.Join(parts, " ")
}

func (r *rebuilder) aboutJobs() string {
	switch {
	case r.lost != "" && len(r.jobs) == 0:
		return fmt.Sprintf("No jobs could be recovered: %s; add them again, with their old targets.", r.lost)
	case r.lost != "":
		return fmt.Sprintf("Some jobs may be missing or wrong, look them through: %s.", r.lost)
	}
	return fmt.Sprintf("No job is lost (%d).", len(r.jobs))
}

func (r *rebuilder) aboutRuns() string {
	if r.copied.IsZero() {
		return "The history of runs is lost."
	}
	return fmt.Sprintf("The history of runs ends on %s.", r.copied.Local().Format("2 January 2006 at 15:04"))
}
