package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// fileQueue is a queue of records (length as uvarint, bytes) in a file, read and
// written in large pieces. What is written has whole records only, so when all
// of it is read, no record is cut.
type fileQueue struct {
	n       int64 // records
	f       *os.File
	written int64  // bytes in f
	read    int64  // bytes of f that went to in
	out     []byte // the youngest records, not yet in f
	in      []byte // the oldest
	inStore []byte // what in lies in
}

const filePiece = 256 << 10

func (q *fileQueue) push(scratch string, rec []byte) error {
	q.out = binary.AppendUvarint(q.out, uint64(len(rec)))
	q.out = append(q.out, rec...)
	q.n++
	if len(q.out) < filePiece {
		return nil
	}
	if q.f == nil {
		f, err := newScratch(scratch)
		if err != nil {
			return err
		}
		q.f = f
	}
	n, err := q.f.WriteAt(q.out, q.written)
	q.written += int64(n)
	q.out = q.out[:0]
	return err
}

func (q *fileQueue) pop() ([]byte, error) {
	size, head := binary.Uvarint(q.in)
	if head <= 0 {
		if err := q.fill(binary.MaxVarintLen64); err != nil {
			return nil, err
		}
		size, head = binary.Uvarint(q.in)
	}
	if head <= 0 || size > uint64(q.written)+uint64(len(q.in)) {
		return nil, errScratch
	}
	whole := head + int(size)
	if len(q.in) < whole {
		if err := q.fill(whole); err != nil {
			return nil, err
		}
		if len(q.in) < whole {
			return nil, errScratch
		}
	}
	rec := append([]byte(nil), q.in[head:whole]...)
	q.in = q.in[whole:]
	q.n--
	return rec, nil
}

var errScratch = errors.New("the scratch file returned other bytes than were written")

// fill makes in hold n bytes, or all there are.
func (q *fileQueue) fill(n int) error {
	if q.read == q.written {
		if len(q.in) > 0 { // see fileQueue
			return errScratch
		}
		q.in, q.out = q.out, q.inStore[:0]
		q.inStore = q.in
		q.read, q.written = 0, 0
		return nil
	}
	have := len(q.in)
	more := min(int64(max(n, filePiece)-have), q.written-q.read)
	store := q.inStore
	if want := have + int(more); cap(store) < want {
		store = make([]byte, want)
	}
	store = store[:have+int(more)]
	copy(store, q.in)
	if _, err := q.f.ReadAt(store[have:], q.read); err != nil {
		return fmt.Errorf("read back what was spilled: %w", err)
	}
	q.read += more
	q.in, q.inStore = store, store
	return nil
}

func (q *fileQueue) close() error {
	f := q.f
	*q = fileQueue{}
	if f == nil {
		return nil
	}
	return f.Close()
}
