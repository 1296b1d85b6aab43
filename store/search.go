package store

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"unicode"
	"unicode/utf8"

	"go.etcd.io/bbolt"
)

// Versions of a path, newest mtime first; none for a path that no hour holds.
func (s *Store) Versions(job, path string) ([]Version, error) {
	var versions []Version
	err := s.db.view(func(tx *bbolt.Tx) (err error) {
		b := tx.Bucket(bucketVersions).Bucket([]byte(job))
		if b == nil {
			return nil
		}
		versions, err = decodeVersions(b.Get([]byte(pathKey(path))))
		return err
	})
	slices.SortStableFunc(versions, func(a, b Version) int { return cmp.Compare(b.MTime, a.MTime) })
	return versions, err
}

// searchBatch is how many paths Search finds in one transaction at most.
const searchBatch = 500

// Search yields the paths of a job that contain text, ignoring case, sorted by
// component. It reads in several transactions, never while a path is yielded:
// paths that come or go meanwhile may be missing.
func (s *Store) Search(job, text string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		q := query{job: job, text: fold(nil, []byte(text))}
		for done := false; !done; {
			var paths []string
			err := s.db.view(func(tx *bbolt.Tx) error {
				paths, done = q.more(tx)
				return nil
			})
			if err != nil {
				yield("", err)
				return
			}
			for _, path := range paths {
				if !yield(path, nil) {
					return
				}
			}
		}
	}
}

// query is a search at work.
type query struct {
	job    string
	text   []byte // folded
	next   []byte // first key that was not looked at
	folded []byte // scratch
}

// more looks at the next entries; done after the last one.
func (q *query) more(tx *bbolt.Tx) (paths []string, done bool) {
	c := newIndexCursor(tx, q.job, q.next)
	for passed := 0; c.key != nil && passed < indexScan && len(paths) < searchBatch; passed++ {
		path := keyPath(c.key)
		q.folded = fold(q.folded[:0], []byte(path))
		if bytes.Contains(q.folded, q.text) {
			paths = append(paths, path)
		}
		c.step()
	}
	q.next = bytes.Clone(c.key)
	return paths, c.key == nil
}

// fold appends s without the differences of upper and lower case. Bytes that are
// no UTF-8 stay as they are.
func fold(dst, s []byte) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[0])
		} else {
			dst = utf8.AppendRune(dst, foldRune(r))
		}
		s = s[n:]
	}
	return dst
}

// foldRune is the smallest rune that differs from r by case alone.
func foldRune(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	if r < utf8.RuneSelf {
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

func foldText(s string) string { return string(fold(nil, []byte(s))) }
