package store

import (
	"encoding/json"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"
)

// The buckets. A value is JSON, except in bucketVersions; keys are text that
// sorts as it is listed. JOB and RUN are ids, DUE is dueLayout.
var (
	bucketMeta     = []byte("meta")     // "schema" -> number
	bucketJobs     = []byte("jobs")     // JOB -> Job
	bucketBoards   = []byte("boards")   // JOB/HH -> Hour
	bucketRuns     = []byte("runs")     // RUN -> Run
	bucketJobRuns  = []byte("job-runs") // JOB/RUN -> hour of the run
	bucketRunning  = []byte("running")  // RUN -> JOB, begun and not ended
	bucketDues     = []byte("dues")     // JOB/DUE -> RUN
	bucketProblems = []byte("problems") // RUN -> [Problem]
	bucketSettings = []byte("settings") // key -> any
	bucketIndexed  = []byte("indexed")  // JOB/HH -> RUN whose seal the file index knows

	// bucketVersions is the file index: a bucket for each job, in it path ->
	// versions (files.go). Its name sorts last, so that a check that runs out of
	// time (check.go) has seen everything that cannot be had again.
	bucketVersions = []byte("versions")
)

var schemaKey = []byte("schema")

// migrations lift the schema: the first from an empty file to version 1, and so
// on. The newest version is their number.
var migrations = []func(*bbolt.Tx) error{createBuckets}

func createBuckets(tx *bbolt.Tx) error {
	for _, name := range [][]byte{
		bucketMeta, bucketJobs, bucketBoards, bucketRuns, bucketJobRuns, bucketRunning,
		bucketDues, bucketProblems, bucketSettings, bucketIndexed, bucketVersions,
	} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return nil
}

// migrate brings a file to the newest schema. ErrNewer if it is newer still.
func migrate(tx *bbolt.Tx) error {
	version, err := schemaOf(tx)
	if err != nil {
		return err
	}
	if version == len(migrations) {
		return nil
	}
	for _, lift := range migrations[version:] {
		if err := lift(tx); err != nil {
			return fmt.Errorf("migrate the database: %w", err)
		}
	}
	return put(tx.Bucket(bucketMeta), string(schemaKey), len(migrations))
}

// schemaOf is 0 for an empty file.
func schemaOf(tx *bbolt.Tx) (int, error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		if first, _ := tx.Cursor().First(); first != nil {
			return 0, fmt.Errorf("%w (no schema in it)", ErrDamaged)
		}
		return 0, nil
	}
	version, err := strconv.Atoi(string(meta.Get(schemaKey)))
	if err != nil || version < 1 {
		return 0, fmt.Errorf("%w (schema %q)", ErrDamaged, meta.Get(schemaKey))
	}
	if version > len(migrations) {
		return 0, fmt.Errorf("%w: its schema is %d, this one knows %d; update Hourhand",
			ErrNewer, version, len(migrations))
	}
	return version, nil
}

// checkValues reads all buckets but the inside of the file index: jobs and boards
// must become what they are, other records be JSON. ErrDamaged. A bit that rots in
// a run, and leaves JSON, costs that run alone: readers pass over it.
func checkValues(tx *bbolt.Tx) error {
	for _, check := range []struct {
		bucket []byte
		good   func(key string, value []byte) bool
	}{
		{bucketJobs, goodJob},
		{bucketBoards, goodHour},
		{bucketRuns, wellFormed},
		{bucketJobRuns, wellFormed},
		{bucketRunning, wellFormed},
		{bucketDues, wellFormed},
		{bucketProblems, func(_ string, value []byte) bool { return value != nil }}, // long, and only shown
		{bucketSettings, wellFormed},
		{bucketIndexed, wellFormed},
		{bucketVersions, func(_ string, value []byte) bool { return value == nil }}, // buckets
	} {
		b := tx.Bucket(check.bucket)
		if b == nil {
			return fmt.Errorf("%w (%s is missing)", ErrDamaged, check.bucket)
		}
		for key, value := range ascend(b, "") {
			if !check.good(string(key), value) {
				return fmt.Errorf("%w (%s %q)", ErrDamaged, check.bucket, key)
			}
		}
	}
	return nil
}

func wellFormed(_ string, value []byte) bool { return json.Valid(value) }

func goodJob(key string, value []byte) bool {
	var j Job
	return json.Unmarshal(value, &j) == nil && j.ID == key
}

func goodHour(key string, value []byte) bool {
	_, err := hourOfKey(key)
	return err == nil && json.Unmarshal(value, new(Hour)) == nil
}
