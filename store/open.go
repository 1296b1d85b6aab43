package store

import (
	"iter"
	"time"
)

// Config of Open.
type Config struct {
	Dir  string        // data folder; made if missing (0700)
	Wait time.Duration // for the lock; 0: 1 s
	// Targets is asked while a damaged database is rebuilt, with each job of
	// jobs.json: what the target says about its hours. nil: hours stay empty.
	Board func(Job) (Board, error)
	// WasSealed is asked at Open for each run that was begun and never ended:
	// true means that the target says "sealed" with this run's id. nil: false.
	WasSealed func(Job, Run) (Hour, bool)
	Now       func() time.Time // nil: time.Now
}

// Store is an open data folder. Its methods may be called from any goroutine.
type Store struct{}

// Open opens or makes DIR/hourhand.db. A damaged file is put aside as
// hourhand.db.damaged-TIME and a new one is built from jobs.json and the
// targets; Rebuilt then tells so. ErrLocked: another process has it; ErrNewer: a
// newer schema.
func Open(c Config) (*Store, error) { panic("stub") }

func (s *Store) Close() error { panic("stub") }

// Rebuilt is the sentence for the dashboard after a rebuild, else "".
func (s *Store) Rebuilt() string { panic("stub") }

// Jobs lists all jobs by name.
func (s *Store) Jobs() ([]Job, error) { panic("stub") }

// Job finds a job by id or by name. ErrNotFound.
func (s *Store) Job(idOrName string) (Job, error) { panic("stub") }

// PutJob adds or replaces a job (by ID; "" gets a new one) and writes
// jobs.json durably. It returns the stored job. An error if another job has the
// name or the target.
func (s *Store) PutJob(j Job) (Job, error) { panic("stub") }

// RemoveJob forgets a job with its board, runs and index; folders stay.
func (s *Store) RemoveJob(id string) error { panic("stub") }

// Begin records that a run starts, durably, before its first change.
func (s *Store) Begin(r Run) (Run, error) { panic("stub") }

// Finish records a run's end, its problems (the first MaxProblems of them) and
// the hour's field of the board, in one transaction. hour nil: the board's
// content stays, only LastRun, Outcome and At change. It is also the way to
// record a run that never began (skipped, missed): with no Begin before.
func (s *Store) Finish(r Run, problems []Problem, hour *Hour) error { panic("stub") }

// Board of a job. The zero Board for a job without runs.
func (s *Store) Board(job string) (Board, error) { panic("stub") }

// SetHour replaces one field of the board, after a verification.
func (s *Store) SetHour(job string, hour int, h Hour) error { panic("stub") }

// Run finds a run. ErrNotFound.
func (s *Store) Run(id string) (Run, error) { panic("stub") }

// Problems of a run, at most MaxProblems.
func (s *Store) Problems(run string) ([]Problem, error) { panic("stub") }

// Runs yields the runs of a job, newest first; job "" = of all jobs.
func (s *Store) Runs(job string) iter.Seq2[Run, error] { panic("stub") }

// LastDue is the newest due of a job for which a run is recorded, whatever its
// outcome; zero if none.
func (s *Store) LastDue(job string) (time.Time, error) { panic("stub") }

// HasDue tells whether a run for this due is recorded.
func (s *Store) HasDue(job string, due time.Time) (bool, error) { panic("stub") }

// Setting reads a JSON value into v; false if it was never set.
func (s *Store) Setting(key string, v any) (bool, error) { panic("stub") }

// SetSetting writes a JSON value; nil removes it.
func (s *Store) SetSetting(key string, v any) error { panic("stub") }

// File is one regular file of a sealed hour, as the index is fed with it.
type File struct {
	Path  string // '/' separators, raw bytes
	Size  int64
	MTime int64 // ns since 1970
	Hash  [16]byte
}

// Version is one content of a path, with the hours that hold it.
type Version struct {
	Size  int64
	MTime int64
	Hash  [16]byte
	Hours uint32 // bit h: hour h
}

// Index replaces what the file index knows of one hour by files, which come
// sorted by path component ("a" < "a/x" < "a.b"). Only differences are written,
// in batches. run is remembered: Indexed tells it.
func (s *Store) Index(job string, hour int, run string, files iter.Seq2[File, error]) error {
	panic("stub")
}

// Indexed is the run whose seal the index of an hour stands for, "" if none.
func (s *Store) Indexed(job string, hour int) (string, error) { panic("stub") }

// Versions of a path, newest mtime first.
func (s *Store) Versions(job, path string) ([]Version, error) { panic("stub") }

// Search yields the paths of a job that contain text, ignoring case, sorted.
func (s *Store) Search(job, text string) iter.Seq2[string, error] { panic("stub") }

// Trim applies the retention: runs older than 400 days or beyond 20,000 per job
// go, with their problems; the newest run of each hour always stays.
func (s *Store) Trim() error { panic("stub") }
