package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// damaged is a sound database and the places in it that a test can break.
type damaged struct {
	checker
	meta   meta
	db     []byte
	branch page // its data is part of db
}

func newDamaged(t *testing.T, good sample) *damaged {
	t.Helper()
	d := damaged{db: bytes.Clone(good.db)}
	d.checker = checker{r: bytes.NewReader(d.db), size: int64(len(d.db)), deadline: time.Now().Add(time.Minute)}
	if err := d.check(); err != nil {
		t.Fatal(err)
	}
	d.meta, _ = d.checker.meta()
	for id := uint64(2); id < d.end; id++ {
		if p := d.at(id); p.flags == flagBranch && p.count > 1 && d.seen.has(id) {
			d.branch = p
			return &d
		}
	}
	t.Fatal("no branch")
	return nil
}

// at is a page within db.
func (d *damaged) at(id uint64) page {
	start := int(id) * d.pageSize
	return parsePage(id, d.db[start:start+d.pageSize])
}

func (d *damaged) child(i int) []byte { return d.branch.element(i)[8:16] }

// No bbolt may see these: it would end the process, or write over what is used.
func TestCheckTellsWhatWouldHarm(t *testing.T) {
	good := newSample(t)
	for name, c := range map[string]struct {
		harm func(*damaged)
		want string
	}{
		"a page that is its own child": {func(d *damaged) { native.PutUint64(d.child(0), d.branch.id) }, "used twice"},
		"two parents of a page":        {func(d *damaged) { copy(d.child(1), d.child(0)) }, "used twice"},
		"a child beyond the end":       {func(d *damaged) { native.PutUint64(d.child(0), d.end) }, "beyond the end"},
		"a meta page as child":         {func(d *damaged) { native.PutUint64(d.child(0), 1) }, "beyond the end"},
		"a page of no kind":            {func(d *damaged) { native.PutUint16(d.branch.data[8:], 0x20) }, "has kind"},
		"a branch without children":    {func(d *damaged) { native.PutUint16(d.branch.data[10:], 0) }, "empty"},
		"more children than fit":       {func(d *damaged) { native.PutUint16(d.branch.data[10:], 0xFFFF) }, "page"},
		"an endless page":              {func(d *damaged) { native.PutUint32(d.branch.data[12:], 0xFFFF_FFFF) }, "torn"},
		"keys out of order":            {func(d *damaged) { swap(d.branch.element(0)[:8], d.branch.element(1)[:8]) }, "page"},
		"a used page that is free": {func(d *damaged) {
			copy(d.at(d.meta.freelist).data[pageHeader:], d.child(0))
		}, "used twice"},
		"a free page twice": {func(d *damaged) {
			ids := d.at(d.meta.freelist).data[pageHeader:]
			copy(ids[8:16], ids[:8])
		}, "list of free pages"},
		"an endless list of free pages": {func(d *damaged) {
			list := d.at(d.meta.freelist).data
			native.PutUint16(list[10:], 0xFFFF)
			native.PutUint64(list[pageHeader:], 1<<40)
		}, "list of free pages"},
		"a file that was cut off": {func(d *damaged) { d.db = d.db[:(int(d.end)-1)*d.pageSize] }, "cut off"},
		"both meta pages torn":    {func(d *damaged) { d.db[30]++; d.db[d.pageSize+30]++ }, "meta"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDamaged(t, good)
			c.harm(d)
			path := filepath.Join(t.TempDir(), "db")
			if err := os.WriteFile(path, d.db, 0o600); err != nil {
				t.Fatal(err)
			}
			err := checkFile(path, time.Minute)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func swap(a, b []byte) {
	old := slices.Clone(a)
	copy(a, b)
	copy(b, old)
}

// One torn meta page is what a power cut leaves: the other one holds.
func TestOneTornMetaPageIsNoDamage(t *testing.T) {
	good := newSample(t)
	for n := range 2 {
		db := bytes.Clone(good.db)
		db[n*os.Getpagesize()+30]++
		if mustServe(t, good, db) {
			t.Errorf("meta page %d: the database was rebuilt", n)
		}
	}
}

// The check must pass whatever bbolt writes: large and small keys and values,
// buckets in buckets, removals.
func TestCheckPassesWhatBoltWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	path := filepath.Join(t.TempDir(), "db")
	db, err := openDatabase(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	db.bolt.NoSync = true
	for round := range 60 {
		err := db.update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte{'a' + byte(random.IntN(3))})
			if err != nil {
				return err
			}
			if b, err = b.CreateBucketIfNotExists([]byte{'z' + byte(random.IntN(3))}); err != nil {
				return err
			}
			b.FillPercent = 0.3 + 0.7*random.Float64()
			change := func(key []byte) error { return b.Put(key, make([]byte, random.IntN(1<<random.IntN(14)))) }
			if random.IntN(3) == 0 {
				change = b.Delete
			}
			for range random.IntN(1000) {
				key := fmt.Appendf(nil, "%0*d", 1+random.IntN(1<<random.IntN(10)), random.IntN(2000))
				if err := change(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			err = checkFile(path, time.Minute)
		}
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// bbolt's check is the judge of ours: what passes ours must pass it.
func TestCheckIsNoLooserThanBolts(t *testing.T) {
	good := newSample(t)
	random := rand.New(rand.NewPCG(5, 6))
	path := filepath.Join(t.TempDir(), "db")
	passed := 0
	for range 400 {
		db := bytes.Clone(good.db)
		db[random.IntN(len(db))] ^= 1 << random.IntN(8)
		if err := os.WriteFile(path, db, 0o600); err != nil {
			t.Fatal(err)
		}
		if checkFile(path, time.Minute) != nil {
			continue
		}
		passed++
		bolt, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		err = bolt.View(func(tx *bbolt.Tx) error {
			for err := range tx.Check() {
				t.Errorf("ours found nothing, bbolt: %v", err)
			}
			return nil
		})
		if err := errors.Join(err, bolt.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if passed == 0 {
		t.Error("nothing passed, nothing was compared")
	}
}

func TestCheckStopsInTime(t *testing.T) {
	good := newSample(t)
	path := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(path, good.db, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkFile(path, -1); err != nil {
		t.Errorf("got %v, want what was not read taken as good", err)
	}
}
