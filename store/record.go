package store

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// encode is json.Marshal without the escapes for HTML: paths stay readable.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func put(b *bbolt.Bucket, key string, v any) error {
	value, err := encode(v)
	if err != nil {
		return err
	}
	return b.Put([]byte(key), value)
}

// get reads a value. ErrNotFound, ErrDamaged.
func get[T any](b *bbolt.Bucket, key string) (T, error) {
	var v T
	value := b.Get([]byte(key))
	if value == nil {
		return v, ErrNotFound
	}
	return v, decode(value, &v)
}

func decode(value []byte, v any) error {
	if err := json.Unmarshal(value, v); err != nil {
		return fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	return nil
}

// ascend yields the entries whose key begins with prefix, in order. The bucket
// must not change meanwhile, nor in descend.
func ascend(b *bbolt.Bucket, prefix string) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		c := b.Cursor()
		for k, v := c.Seek([]byte(prefix)); bytes.HasPrefix(k, []byte(prefix)) && k != nil; k, v = c.Next() {
			if !yield(k, v) {
				return
			}
		}
	}
}

// descend yields the entries whose key begins with prefix, last one first. With
// before it begins below prefix+before.
func descend(b *bbolt.Bucket, prefix, before string) iter.Seq2[[]byte, []byte] {
	bound := prefix + before
	if before == "" {
		bound = prefix + "\xff" // keys are ASCII
	}
	return func(yield func(k, v []byte) bool) {
		c := b.Cursor()
		step := c.Prev
		if k, _ := c.Seek([]byte(bound)); k == nil {
			step = c.Last
		}
		for k, v := step(); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Prev() {
			if !yield(k, v) {
				return
			}
		}
	}
}

// removePrefix removes all entries whose key begins with prefix.
func removePrefix(b *bbolt.Bucket, prefix string) error {
	var keys [][]byte
	for k := range ascend(b, prefix) {
		keys = append(keys, bytes.Clone(k))
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// validID keeps the keys that are made of ids unambiguous.
func validID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) < 0
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // never fails: it ends the program where there is no randomness
	return hex.EncodeToString(b)
}

// runID sorts by time of beginning.
func runID(started time.Time) string {
	stamp := sane(started).UTC().Format("20060102-150405.000")
	return strings.Replace(stamp, ".", "-", 1) + "-" + randomHex(4)
}

// dueLayout of keys has a fixed width: it sorts by time.
const dueLayout = "20060102T150405.000000000Z"

func dueKey(job string, due time.Time) string {
	return job + "/" + sane(due).UTC().Format(dueLayout)
}

// Times that RFC 3339 can tell: a clock may say anything.
var (
	earliest = time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC) // not the zero time, which means none
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// sane returns t, or the nearest time that survives JSON: with a year of four
// digits, and a zone of whole minutes.
func sane(t time.Time) time.Time {
	t = t.Round(0)
	switch {
	case t.IsZero():
		return time.Time{}
	case t.Before(earliest):
		return earliest
	case t.After(latest):
		return latest
	}
	_, offset := t.Zone()
	if offset%60 != 0 || max(offset, -offset) >= 24*3600 || t.Year() < 1 || t.Year() > 9999 {
		return t.UTC()
	}
	return t
}
