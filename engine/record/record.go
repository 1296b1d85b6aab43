// Package record takes apart the small binary records in which the engine keeps
// lists that are larger than memory.
package record

import (
	"encoding/binary"
	"errors"
)

// ErrShort is the error of a record that ends early or holds an impossible
// number.
var ErrShort = errors.New("record is damaged")

// Reader takes values from a record, one after the other. After the first that
// cannot be there Err is set and all others are zero, so a caller looks once, at
// the end. What Take returns lies in the record itself.
type Reader struct {
	Rest []byte
	Err  error
}

// Fail marks the record as damaged.
func (r *Reader) Fail() { r.Rest, r.Err = nil, ErrShort }

// Take returns the next n bytes.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		r.Fail()
		return nil
	}
	taken := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return taken
}

// Byte returns the next byte.
func (r *Reader) Byte() byte {
	if p := r.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// Uvarint and Varint return the next number, as encoding/binary writes it.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.Rest)
	return number(r, v, n)
}

// Varint is Uvarint for signed numbers.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.Rest)
	return number(r, v, n)
}

func number[T int64 | uint64](r *Reader, v T, n int) T {
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// String returns what AppendString wrote.
func (r *Reader) String() string { return string(r.Take(r.Uvarint())) }

// AppendString appends a string with its length.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
