package store

import (
	"encoding/json"
	"errors"
	"reflect"

	"go.etcd.io/bbolt"
)

// Setting reads a JSON value into v, a pointer. False, and v as it was: it was
// never set, or cannot be read as v, so that a rotten setting is one forgotten, not
// one that keeps the agent from starting.
func (s *Store) Setting(key string, v any) (bool, error) {
	found := false
	err := s.db.view(func(tx *bbolt.Tx) error {
		read := reflect.New(reflect.TypeOf(v).Elem())
		value := tx.Bucket(bucketSettings).Get([]byte(key))
		if value == nil || json.Unmarshal(value, read.Interface()) != nil {
			return nil
		}
		reflect.ValueOf(v).Elem().Set(read.Elem())
		found = true
		return nil
	})
	return found, err
}

// SetSetting writes a JSON value; nil removes it.
func (s *Store) SetSetting(key string, v any) error {
	if key == "" {
		return errors.New("a setting needs a name")
	}
	return s.db.update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketSettings)
		if v == nil {
			return b.Delete([]byte(key))
		}
		return put(b, key, v)
	})
}
