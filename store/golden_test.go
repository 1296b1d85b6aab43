package store

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

var update = flag.Bool("update", false, "write the golden files")

// dump is the database as text: bucket -> lines of key and value.
func dump(t testing.TB, s *Store) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := s.db.view(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				if v != nil {
					out[string(name)] = append(out[string(name)], fmt.Sprintf("%s %s", k, v))
					return nil
				}
				return b.Bucket(k).ForEach(func(path, versions []byte) error {
					out[string(name)] = append(out[string(name)], fmt.Sprintf("%s %q %x", k, path, versions))
					return nil
				})
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// goldenStore has every kind of record with every field set.
func goldenStore(t testing.TB, dir string) *Store {
	t.Helper()
	s := openAt(t, dir, noon)
	zone := time.FixedZone("", 3600)
	due := time.Date(2026, 11, 30, 14, 0, 0, 0, zone)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(second(s.PutJob(Job{
		ID: "5d41402abc4b2a76", Name: "photos", Source: "/home/ann/Pictures & more", Target: "/media/disk/photos",
		Mode: "changes", Schedule: "0 * * * *", Keep: "2d", Verify: "full", Profile: "gentle", Limit: 20_000_000,
		Workers: 4, Retries: 2, RetryWait: "5s", MaxDelete: "25%", Excludes: []string{"*.tmp", "<x>"}, NoDefaultExcludes: true,
		DeleteExcluded: true, Checksum: true, TrustIndex: true, Disabled: true, Created: due.AddDate(0, -1, 0),
	})))
	verified := Verified{Device: Count{1, 2}, Cache: Count{3, 4}, Server: Count{5, 6}, Source: Count{7, 8}}
	r := Run{
		ID: "20261130-130001-500-00c0ffee", Job: "5d41402abc4b2a76", Hour: 14, Due: due, Started: due.Add(1500 * time.Millisecond),
		Ended: due.Add(time.Minute), Trigger: "schedule", Outcome: Held, Reason: "Too much would be removed.", Cause: "mass-change",
		Copied: Count{1, 10}, Updated: Count{2, 20}, Removed: Count{3, 30}, Moved: Count{4, 40}, Unchanged: Count{5, 50},
		LeftOut: LeftOut{1, 2, 3}, Verified: verified, ProblemCount: 3, Notes: []string{"a note"},
		Plan: json.RawMessage(`{"id":"p"}`), Sealed: true, Changed: true,
	}
	must(s.Finish(r, []Problem{
		{Path: "a/b", Error: "cannot be read", Cause: "denied"}, {Path: "caf\xe9", Error: "is gone"},
	}, &Hour{
		Content: "superset", From: due, To: due.Add(time.Second), Due: due, SealedBy: r.ID, Files: Count{9, 90}, Problems: 2,
		Verified: verified, Oldest: due.AddDate(0, 0, -1), Notes: []string{"a note"},
	}))
	must(second(s.Begin(Run{ID: "20261130-140000-000-0badcafe", Job: "5d41402abc4b2a76", Hour: 15, Started: due.Add(time.Hour), Trigger: "hand"})))
	must(s.SetSetting("pause", map[string]bool{"on": true}))
	for _, hour := range []int{0, 23} {
		must(s.Index("5d41402abc4b2a76", hour, r.ID, func(yield func(File, error) bool) {
			_ = yield(File{Path: "a/x", Size: 300 + int64(hour), MTime: -1, Hash: [16]byte{0xAA, 15: 0xBB}}, nil) &&
				yield(File{Path: "a.b", Size: 5, MTime: 1_764_500_000_000_000_000}, nil)
		}))
	}
	return s
}

// TestStoredFormat guards what older and newer versions must read. A change of
// testdata/v1.golden needs a new schema version with its migration.
func TestStoredFormat(t *testing.T) {
	dir := t.TempDir()
	s := goldenStore(t, dir)
	var b bytes.Buffer
	buckets := dump(t, s)
	for _, name := range slices.Sorted(maps.Keys(buckets)) {
		fmt.Fprintf(&b, "[%s]\n%s\n\n", name, strings.Join(buckets[name], "\n"))
	}
	golden(t, "v1.golden", b.Bytes())
	golden(t, "jobs.golden.json", []byte(readFile(t, filepath.Join(dir, jobsName))))
}

// What is read is what was written, in every field.
func TestStoredFormatIsReadBack(t *testing.T) {
	s := goldenStore(t, t.TempDir())
	r, err := s.Run("20261130-130001-500-00c0ffee")
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.Job(r.Job)
	if err != nil {
		t.Fatal(err)
	}
	board, err := s.Board(j.ID)
	if err != nil {
		t.Fatal(err)
	}
	problems, err := s.Problems(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	stored := dump(t, s)
	for bucket, v := range map[string]any{"jobs": j, "runs": r, "boards": board[14], "problems": problems} {
		text, err := encode(v)
		if err != nil || !strings.HasSuffix(stored[bucket][0], " "+string(text)) {
			t.Errorf("%s: got %s, %v, want %s", bucket, text, err, stored[bucket][0])
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := readFile(t, path); want != string(got) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}
