package store

import (
	"errors"

	"go.etcd.io/bbolt"
)

// Setting reads a JSON value into v; false if it was never set.
func (s *Store) Setting(key string, v any) (bool, error) {
	found := false
	err := s.db.view(func(tx *bbolt.Tx) error {
		value := tx.Bucket(bucketSettings).Get([]byte(key))
		found = value != nil
		if !found {
			return nil
		}
		return decode(value, v)
	})
	return found && err == nil, err
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
