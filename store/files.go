package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

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

// The bounds of one step of Index and Search: how many files or changes are held
// in memory, and how many entries are passed under one read transaction. 10,000
// changes are 1 to 2 MB of pages, 50,000 entries some 20 ms.
const (
	indexBatch = 10_000
	indexScan  = 50_000
)

// Index replaces what the file index knows of one hour by files, which come
// sorted by path component ("a" < "a/x" < "a.b"). Only differences are written,
// in batches. run is remembered: Indexed tells it. Until the end, and after an
// error, Indexed is "". Paths over 32,000 bytes are left out. ErrNotFound: no
// such job.
func (s *Store) Index(job string, hour int, run string, files iter.Seq2[File, error]) error {
	if hour < 0 || hour > 23 {
		return fmt.Errorf("index hour %d: there is no such hour", hour)
	}
	s.indexing.Lock()
	defer s.indexing.Unlock()
	if err := s.setIndexed(job, hour, ""); err != nil {
		return err
	}
	m := merge{s: s, job: job, hours: 1 << hour}
	for f, err := range files {
		if err == nil {
			err = m.add(f)
		}
		if err != nil {
			return fmt.Errorf("index hour %02d: %w", hour, err)
		}
	}
	if err := m.flush(true); err != nil {
		return fmt.Errorf("index hour %02d: %w", hour, err)
	}
	return s.setIndexed(job, hour, run)
}

// Indexed is the run whose seal the index of an hour stands for, "" if none.
func (s *Store) Indexed(job string, hour int) (string, error) {
	run := ""
	err := s.db.view(func(tx *bbolt.Tx) (err error) {
		run, err = get[string](tx.Bucket(bucketIndexed), hourKey(job, hour))
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return run, err
}

// setIndexed remembers run; "" forgets.
func (s *Store) setIndexed(job string, hour int, run string) error {
	return s.db.update(func(tx *bbolt.Tx) error {
		if !hasJob(tx, job) {
			return fmt.Errorf("job %s: %w", job, ErrNotFound)
		}
		if run == "" {
			return tx.Bucket(bucketIndexed).Delete([]byte(hourKey(job, hour)))
		}
		return put(tx.Bucket(bucketIndexed), hourKey(job, hour), run)
	})
}

// dropIndex forgets the index of a job.
func dropIndex(tx *bbolt.Tx, job string) error {
	err := tx.Bucket(bucketVersions).DeleteBucket([]byte(job))
	if errors.Is(err, berrors.ErrBucketNotFound) {
		return nil
	}
	return err
}

// merge is one pass over the index of a job and a stream of files, both in the
// order of keys.
type merge struct {
	s     *Store
	job   string
	hours uint32 // the bit of the hour

	files []keyedFile // waiting, sorted
	last  string      // key of the newest file of the stream
	next  []byte      // first key of the index that was not passed yet
}

type keyedFile struct {
	key  string
	file File
}

// add takes the next file of the stream.
func (m *merge) add(f File) error {
	key := pathKey(f.Path)
	if key <= m.last {
		return fmt.Errorf("%q does not come in order", f.Path)
	}
	m.last = key
	if len(key) > maxPath {
		return nil
	}
	if m.files = append(m.files, keyedFile{key, f}); len(m.files) < indexBatch {
		return nil
	}
	return m.flush(false)
}

// flush brings the index up to date as far as the waiting files reach; to its
// end if these were the last ones.
func (m *merge) flush(end bool) error {
	for done := false; !done; {
		var changes []change
		err := m.s.db.view(func(tx *bbolt.Tx) error {
			changes, done = m.compare(tx, end)
			return nil
		})
		if err != nil {
			return err
		}
		if err := m.write(changes); err != nil {
			return err
		}
	}
	return nil
}

// change is a new value of a key of the index, nil: the key goes.
type change struct{ key, value []byte }

// compare passes entries and waiting files, and returns what has to be written.
// It stops early when that is much.
func (m *merge) compare(tx *bbolt.Tx, end bool) (changes []change, done bool) {
	c := newIndexCursor(tx, m.job, m.next)
	var key []byte // passed last
	for passed := 0; passed < indexScan && len(changes) < indexBatch; passed++ {
		if len(m.files) == 0 && (!end || c.key == nil) {
			done = true
			break
		}
		var old []byte
		var f *File
		order := m.order(c.key)
		if order <= 0 {
			key, f = []byte(m.files[0].key), &m.files[0].file
			m.files = m.files[1:]
		}
		if order >= 0 {
			key, old = c.key, c.value
			c.step()
		}
		if value := replaceHour(old, m.hours, f); !bytes.Equal(value, old) {
			changes = append(changes, change{bytes.Clone(key), value})
		}
	}
	if key != nil {
		m.next = append(bytes.Clone(key), 0) // its successor in the order of bytes
	}
	return changes, done
}

// order compares the first waiting file with an entry. No file, or no entry, is
// behind everything.
func (m *merge) order(entry []byte) int {
	switch {
	case len(m.files) == 0:
		return 1
	case entry == nil:
		return -1
	}
	return strings.Compare(m.files[0].key, string(entry))
}

func (m *merge) write(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	return m.s.db.update(func(tx *bbolt.Tx) error {
		if !hasJob(tx, m.job) {
			return fmt.Errorf("job %s: %w", m.job, ErrNotFound) // removed meanwhile
		}
		b, err := tx.Bucket(bucketVersions).CreateBucketIfNotExists([]byte(m.job))
		if err != nil {
			return err
		}
		b.FillPercent = 0.9 // the first hour comes in order
		for _, c := range changes {
			if len(c.value) == 0 {
				err = b.Delete(c.key)
			} else {
				err = b.Put(c.key, c.value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// indexCursor stands on an entry of the index of a job; key nil: behind the last.
type indexCursor struct {
	cursor     *bbolt.Cursor
	key, value []byte
}

// newIndexCursor stands on the first entry at or behind from.
func newIndexCursor(tx *bbolt.Tx, job string, from []byte) indexCursor {
	b := tx.Bucket(bucketVersions).Bucket([]byte(job))
	if b == nil {
		return indexCursor{}
	}
	c := indexCursor{cursor: b.Cursor()}
	c.key, c.value = c.cursor.Seek(from)
	return c
}

func (c *indexCursor) step() { c.key, c.value = c.cursor.Next() }

// maxPath leaves room below bbolt's limit of 32,768 bytes for a key, and is above
// every path that systems let a program open at once (Linux 4,096).
const maxPath = 32_000

// pathKey is a path whose order of bytes is the order of components: a separator
// sorts before every byte that a name can hold.
func pathKey(path string) string { return strings.ReplaceAll(path, "/", "\x00") }

func keyPath(key []byte) string { return strings.ReplaceAll(string(key), "\x00", "/") }

// replaceHour returns the versions old, where the hour holds what f says; f nil:
// it does not hold the path. Empty: no hour does. A value that cannot be right
// counts as empty: the other hours mend it when they are indexed.
func replaceHour(old []byte, hour uint32, f *File) []byte {
	if holds(old, hour, f) {
		return old
	}
	versions, err := decodeVersions(old)
	if err != nil {
		versions = nil
	}
	found := false
	for i := range versions {
		v := &versions[i]
		v.Hours &^= hour
		if f.is(*v) {
			v.Hours |= hour
			found = true
		}
	}
	if f != nil && !found {
		versions = append(versions, Version{f.Size, f.MTime, f.Hash, hour})
	}
	return encodeVersions(slices.DeleteFunc(versions, func(v Version) bool { return v.Hours == 0 }))
}

// holds tells whether encoded versions say already what replaceHour would write:
// so it is for nearly all files of nearly all runs.
func holds(encoded []byte, hour uint32, f *File) bool {
	found := false
	for len(encoded) > 0 {
		v, rest, ok := nextVersion(encoded)
		if !ok || v.Hours&hour != 0 != f.is(v) {
			return false
		}
		found = found || f.is(v)
		encoded = rest
	}
	return found == (f != nil)
}

// is tells whether v is the content of f; nil has none.
func (f *File) is(v Version) bool {
	return f != nil && v.Size == f.Size && v.MTime == f.MTime && v.Hash == f.Hash
}

// encodeVersions writes for each version: size (uvarint), mtime (8 bytes, big
// endian), hash (16), hours (3, big endian).
func encodeVersions(versions []Version) []byte {
	var b []byte
	for _, v := range versions {
		b = binary.AppendUvarint(b, uint64(v.Size))
		b = binary.BigEndian.AppendUint64(b, uint64(v.MTime))
		b = append(b, v.Hash[:]...)
		b = append(b, byte(v.Hours>>16), byte(v.Hours>>8), byte(v.Hours))
	}
	return b
}

func decodeVersions(b []byte) ([]Version, error) {
	var versions []Version
	for len(b) > 0 {
		v, rest, ok := nextVersion(b)
		if !ok {
			return nil, fmt.Errorf("%w (versions of a path)", ErrDamaged)
		}
		versions = append(versions, v)
		b = rest
	}
	return versions, nil
}

func nextVersion(b []byte) (v Version, rest []byte, ok bool) {
	const fixed = 8 + 16 + 3
	size, n := binary.Uvarint(b)
	if n <= 0 || len(b) < n+fixed {
		return Version{}, nil, false
	}
	b = b[n:]
	v = Version{Size: int64(size), MTime: int64(binary.BigEndian.Uint64(b))}
	copy(v.Hash[:], b[8:])
	v.Hours = uint32(b[24])<<16 | uint32(b[25])<<8 | uint32(b[26])
	return v, b[fixed:], true
}
