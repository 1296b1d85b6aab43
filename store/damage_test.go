package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// sample is a data folder as bytes: a database with pages of every kind, and its
// jobs.json.
type sample struct{ db, jobs []byte }

func newSample(t testing.TB) sample {
	t.Helper()
	dir := t.TempDir()
	s := openAt(t, dir, noon)
	jobs := []Job{addJob(t, s, "music"), addJob(t, s, "photos")}
	for i := range 24 {
		var problems []Problem
		for n := range i * 5 {
			problems = append(problems, Problem{Path: fmt.Sprintf("folder/file-%d", n), Error: "cannot be read"})
		}
		record(t, s, Run{Job: jobs[i%2].ID, Hour: i % 24, Started: noon.Add(time.Duration(i) * time.Hour),
			Due: noon.Add(time.Duration(i) * time.Hour), Outcome: Partial}, problems, &Hour{Content: "sealed"})
	}
	if _, err := s.Begin(Run{Job: jobs[0].ID, Hour: 3}); err != nil {
		t.Fatal(err)
	}
	if err := s.Index(jobs[0].ID, 3, "r", files(240, "")); err != nil {
		t.Fatal(err)
	}
	if err := s.Index(jobs[0].ID, 3, "r", files(120, "")); err != nil { // frees pages
		t.Fatal(err)
	}
	closeStore(t, s)
	return sample{[]byte(readFile(t, filepath.Join(dir, dbName))), []byte(readFile(t, filepath.Join(dir, jobsName)))}
}

// files is a stream of n files.
func files(n int, suffix string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for i := range n {
			f := File{Path: fmt.Sprintf("dir-%03d/file-%05d%s", i/100, i, suffix), Size: int64(i), MTime: int64(i) * 1e9}
			if !yield(f, nil) {
				return
			}
		}
	}
}

// mustServe opens a folder with this database. Whatever its bytes are, Open
// succeeds in bounded time, no job is lost, bytes that were given up are kept, and
// the store works.
func mustServe(t *testing.T, good sample, db []byte) (rebuilt bool) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, dbName), db, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, jobsName), good.jobs, 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s, err := Open(Config{Dir: dir, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Open took %v", took)
	}
	if jobs, err := s.Jobs(); err != nil || len(jobs) != 2 {
		t.Errorf("got jobs %v, %v", jobs, err)
	}
	if s.Rebuilt() != "" {
		kept := damagedFiles(t, dir)
		if len(kept) != 1 || readFile(t, kept[0]) != string(db) {
			t.Errorf("the damaged bytes are not kept: %v", kept)
		}
	}
	rebuilt = s.Rebuilt() != ""
	if !rebuilt {
		mustWork(t, s)
	}
	closeStore(t, s)
	return rebuilt
}

// mustWork reads all that a store has and writes to it. A rotten value may be told
// as ErrDamaged; the structure must hold.
func mustWork(t *testing.T, s *Store) {
	t.Helper()
	expect := func(what string, err error) {
		t.Helper()
		if _, broken := errors.AsType[*fault](err); broken || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for r, err := range s.Runs("") {
		expect("Runs", err)
		_, err = s.Problems(r.ID)
		expect("Problems", err)
	}
	for _, name := range []string{"music", "photos"} {
		j, err := s.Job(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Board(j.ID)
		expect("Board", err)
		_, err = s.LastDue(j.ID)
		expect("LastDue", err)
		for path, err := range s.Search(j.ID, "FILE") {
			expect("Search", err)
			_, err = s.Versions(j.ID, path)
			expect("Versions", err)
		}
		r, err := s.Begin(Run{Job: j.ID, Hour: 5})
		expect("Begin", err)
		r.Outcome = Done
		expect("Finish", s.Finish(r, []Problem{{Path: "x"}}, &Hour{Content: "sealed"}))
		expect("Index", s.Index(j.ID, 5, r.ID, files(200, "-new")))
		expect("RemoveJob", s.RemoveJob(j.ID))
	}
	expect("Trim", s.Trim())
}

func TestEveryDamagedPageIsSurvived(t *testing.T) {
	good := newSample(t)
	if mustServe(t, good, good.db) {
		t.Fatal("the good database was rebuilt")
	}
	size := os.Getpagesize()
	random := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]func(page []byte){
		"zeroes": func(page []byte) { clear(page) },
		"noise": func(page []byte) {
			for i := range page {
				page[i] = byte(random.Uint32())
			}
		},
		"another page": func(page []byte) { copy(page, good.db[random.IntN(len(good.db)/size)*size:][:size]) },
		"half written": func(page []byte) { clear(page[size/2:]) },
	}
	used := usedPages(t, good)
	for name, damage := range kinds {
		t.Run(name, func(t *testing.T) {
			rebuilt := 0
			for _, at := range used {
				db := bytes.Clone(good.db)
				damage(db[at*size : (at+1)*size])
				if mustServe(t, good, db) {
					rebuilt++
				}
			}
			if rebuilt == 0 {
				t.Error("no damage was seen")
			}
		})
	}
}

// usedPages lists the pages that are not free.
func usedPages(t *testing.T, good sample) (pages []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(path, good.db, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := openDatabase(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	err = db.view(func(tx *bbolt.Tx) error {
		for n := 0; ; n++ {
			info, err := tx.Page(n)
			if info == nil || err != nil {
				return err
			}
			if info.Type != "free" {
				pages = append(pages, n)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestRandomDamageIsSurvived(t *testing.T) {
	good := newSample(t)
	random := rand.New(rand.NewPCG(3, 4))
	rounds := 100
	if testing.Short() {
		rounds = 30
	}
	for range rounds {
		db := bytes.Clone(good.db)
		if random.IntN(5) == 0 {
			db = db[:random.IntN(len(db))]
		}
		for range random.IntN(20) {
			if len(db) > 0 {
				db[random.IntN(len(db))] ^= 1 << random.IntN(8)
			}
		}
		mustServeMaybeEmpty(t, good, db)
	}
}

// mustServeMaybeEmpty is mustServe where an empty file counts as a missing one.
func mustServeMaybeEmpty(t *testing.T, good sample, db []byte) {
	t.Helper()
	if len(db) > 0 {
		mustServe(t, good, db)
	}
}

// FuzzOpenDamaged writes numbers into the database: 4 bytes of where, 8 of what.
func FuzzOpenDamaged(f *testing.F) {
	good := newSample(f)
	page := uint32(os.Getpagesize())
	write := func(at uint32, what uint64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, at), what)
	}
	f.Add([]byte{})
	for n := uint32(2); n < uint32(len(good.db))/page; n += 5 {
		f.Add(write(n*page+8, 0xFFFF_FFFF_0001))    // a branch with a huge overflow
		f.Add(write(n*page+24, uint64(n)))          // a child that is the page itself
		f.Add(write(n*page+8, 0xFFFF_0010))         // a free list that counts itself
		f.Add(write(n*page+20, 0xFFFF_FFFF_FFFF))   // keys beyond the page
		f.Add(write(n*page+4096-16, 1<<63|1<<31|1)) // the end of a page
	}
	f.Fuzz(func(t *testing.T, edits []byte) {
		db := bytes.Clone(good.db)
		for len(edits) >= 12 {
			at := int(binary.LittleEndian.Uint32(edits)) % (len(db) - 8)
			copy(db[at:], edits[4:12])
			edits = edits[12:]
		}
		mustServe(t, good, db)
	})
}

// A page that is torn while the store is open is an error, not the end of the
// process, and the next Open mends it.
func TestDamageWhileOpenIsAnError(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // a mapped file cannot be cut there
	}
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	j := addJob(t, s, "photos")
	if err := os.Truncate(filepath.Join(dir, dbName), int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Jobs(); !errors.Is(err, ErrDamaged) {
		t.Errorf("Jobs: got %v, want ErrDamaged", err)
	}
	for range 2 { // the second must not wait for a lock that the first left
		if _, err := s.Begin(Run{Job: j.ID}); !errors.Is(err, ErrDamaged) {
			t.Errorf("Begin: got %v, want ErrDamaged", err)
		}
	}
	closeStore(t, s)
	s = openAt(t, dir, noon)
	if _, err := s.Job(j.ID); err != nil || s.Rebuilt() == "" {
		t.Errorf("after the rebuild: %v, %q", err, s.Rebuilt())
	}
}

func TestBothMetaPagesTornWhileOpen(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	tear(t, dir)
	for range 2 {
		if _, err := s.Jobs(); !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, want ErrDamaged", err)
		}
	}
	closeStore(t, s)
	openAt(t, dir, noon)
}
