package store

import (
	"encoding/json"
	"errors"
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

// checkValues reads what everything else hangs on: jobs and boards become what
// they are, other records are well-formed. ErrDamaged.
func checkValues(tx *bbolt.Tx) error {
	return errors.Join(
		checkEach(tx, bucketJobs, func(key string, value []byte) bool {
			var j Job
			return json.Unmarshal(value, &j) == nil && j.ID == key
		}),
		checkEach(tx, bucketBoards, func(_ string, value []byte) bool {
			return json.Unmarshal(value, new(Hour)) == nil
		}),
		checkEach(tx, bucketRuns, wellFormed),
		checkEach(tx, bucketJobRuns, wellFormed),
		checkEach(tx, bucketRunning, wellFormed),
		checkEach(tx, bucketDues, wellFormed),
		checkEach(tx, bucketSettings, wellFormed),
		checkEach(tx, bucketIndexed, wellFormed),
		checkEach(tx, bucketProblems, func(string, []byte) bool { return true }),
		checkEach(tx, bucketVersions, func(_ string, value []byte) bool { return value == nil }),
	)
}

func wellFormed(_ string, value []byte) bool { return json.Valid(value) }

func checkEach(tx *bbolt.Tx, bucket []byte, good func(key string, value []byte) bool) error {
	b := tx.Bucket(bucket)
	if b == nil {
		return fmt.Errorf("%w (%s is missing)", ErrDamaged, bucket)
	}
	for key, value := range ascend(b, "") {
		if !good(string(key), value) {
			return fmt.Errorf("%w (%s %q)", ErrDamaged, bucket, key)
		}
	}
	return nil
}
