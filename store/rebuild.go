package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	r := rebuilder{s: s, board: c.Board}
	temp := s.path() + ".new"
	os.Remove(temp)
	if err := r.build(temp); err != nil {
		os.Remove(temp)
		return fmt.Errorf("build the database anew: %w", err)
	}
	if errors.Is(found, ErrDamaged) {
		aside, err := putAside(s.path(), s.now())
		if err != nil {
			return err
		}
		r.damage, r.kept = found, append(r.kept, aside)
	}
	if err := rename(temp, s.path()); err != nil {
		return err
	}
	if r.lost != "" {
		aside, err := putAside(filepath.Join(s.dir, jobsName), s.now())
		if err != nil {
			return err
		}
		r.kept = append(r.kept, aside)
	}
	s.rebuilt = r.sentence()
	return nil
}

// rebuilder is a rebuild at work, with what its sentence will say.
type rebuilder struct {
	s     *Store
	board func(Job) (Board, error)

	damage  error     // nil: there was no database
	kept    []string  // damaged files
	copied  time.Time // of the daily copy, zero: none
	jobs    []Job
	lost    string   // what is wrong with the list of jobs
	unknown []string // names of jobs whose target could not tell its hours
}

func (r *rebuilder) build(temp string) error {
	if err := r.takeCopy(temp); err != nil {
		return err
	}
	jobs, listed, err := r.readJobs()
	if err != nil {
		return err
	}
	db, _, err := openBolt(temp)
	if err != nil {
		return err
	}
	update := func(fn func(*bbolt.Tx) error) error { return guarded(func() error { return db.Update(fn) }) }
	err = update(func(tx *bbolt.Tx) (err error) {
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
	if err == nil {
		boards := r.boards() // asks the targets, outside of any transaction
		err = update(func(tx *bbolt.Tx) error { return replaceBoards(tx, boards) })
	}
	return errors.Join(err, db.Close())
}

// takeCopy puts the newest sound daily copy at path, if there is one.
func (r *rebuilder) takeCopy(path string) error {
	now := sane(r.s.now()).UTC()
	copies, ahead := listCopies(r.s.dir, now)
	for _, name := range slices.Backward(append(ahead, copies...)) {
		if soundCopy(name) != nil {
			continue
		}
		if err := copyFile(path, name); err != nil {
			return err
		}
		r.copied = copyTime(name)
		return nil
	}
	return nil
}

// soundCopy checks a daily copy as the database itself is checked.
func soundCopy(path string) error {
	if err := checkFile(path, checkBudget); err != nil {
		return err
	}
	return guarded(func() error {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: boltWait})
		if err != nil {
			return err
		}
		defer db.Close()
		return db.View(func(tx *bbolt.Tx) error {
			if _, err := schemaOf(tx); err != nil {
				return err
			}
			return checkValues(tx)
		})
	})
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// readJobs reads jobs.json; listed is false if it tells nothing.
func (r *rebuilder) readJobs() (jobs []Job, listed bool, err error) {
	f, err := readJobs(r.s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case errors.Is(err, ErrDamaged):
		r.lost = jobsName + " is damaged too"
		return nil, false, nil
	case f.odd > 0:
		r.lost = fmt.Sprintf("%d entries of %s cannot be read", f.odd, jobsName)
	case err == nil && !f.intact:
		r.lost = jobsName + " was changed by something else than Hourhand"
	}
	return f.Jobs, err == nil, err
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
	if r.damage == nil && r.lost == "" && len(r.jobs) == 0 {
		return "" // the first start
	}
	var b strings.Builder
	if r.damage != nil {
		fmt.Fprintf(&b, "The database was damaged and was built anew.")
	} else {
		fmt.Fprintf(&b, "The database was missing and was built anew.")
	}
	switch {
	case r.lost != "" && len(r.jobs) == 0:
		fmt.Fprintf(&b, " No jobs could be recovered: %s; add them again, with their old targets.", r.lost)
	case r.lost != "":
		fmt.Fprintf(&b, " Some jobs may be missing or wrong, look them through: %s.", r.lost)
	default:
		fmt.Fprintf(&b, " All %d jobs are there.", len(r.jobs))
	}
	if r.copied.IsZero() {
		b.WriteString(" The history of runs is lost, the copies themselves are not touched.")
	} else {
		fmt.Fprintf(&b, " The history of runs ends on %s, the copies themselves are not touched.",
			r.copied.Local().Format("2 January 2006 at 15:04"))
	}
	if len(r.unknown) > 0 {
		fmt.Fprintf(&b, " What the hours of %s hold is not known until their target is connected.", strings.Join(r.unknown, ", "))
	}
	for _, path := range r.kept {
		fmt.Fprintf(&b, " The damaged file is kept: %s.", path)
	}
	return b.String()
}
