package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hourhand/hourhand/engine/record"
)

// blocks reads the entries of one block or of several that follow each other.
type blocks struct {
	in   chunks
	dir  string // of the present block
	e    Entry  // the last that next gave
	d    decoder
	open bool  // the present block has more chunks
	seen int   // blocks begun
	at   int64 // offset of the present chunk
	one  bool  // more than one block is damage
	name string
}

// next decodes the next entry into e and dir; io.EOF after the last.
func (b *blocks) next() error {
	if len(b.d.Rest) == 0 {
		if err := b.readChunk(); err != nil {
			return err
		}
	}
	if err := b.d.entry(&b.e); err != nil {
		return damaged("folder %q before %d: %w", b.dir, b.in.next, err)
	}
	if b.e.Name <= b.name {
		return damaged("folder %q: %q after %q is out of order", b.dir, b.e.Name, b.name)
	}
	b.name = b.e.Name
	return nil
}

// readChunk makes the next chunk the present one. Every chunk has an entry.
func (b *blocks) readChunk() error {
	at := b.in.next
	place, payload, err := b.in.read()
	if err == io.EOF && b.open {
		return damaged("folder %q: cut off at %d", b.dir, at)
	}
	if err != nil {
		return err
	}
	first := place&firstChunk != 0
	if first == b.open || place&^(firstChunk|lastChunk) != 0 || first && b.one && b.seen > 0 {
		return damaged("chunk at %d does not belong there", at)
	}
	b.open, b.at = place&lastChunk == 0, at
	b.d = decoder{record.Reader{Rest: payload}}
	b.e = Entry{}
	if first {
		if err := b.readDir(); err != nil {
			return damaged("block at %d: %w", at, err)
		}
	}
	if len(b.d.Rest) == 0 {
		return damaged("chunk at %d has no entry", at)
	}
	return nil
}

func (b *blocks) readDir() error {
	dir := string(b.d.Take(b.d.Uvarint()))
	if b.d.Err != nil {
		return errors.New("folder's path is cut off")
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	if b.seen > 0 && ComparePaths(b.dir, dir) >= 0 {
		return fmt.Errorf("folder %q after %q is out of order", dir, b.dir)
	}
	b.dir, b.name = dir, ""
	b.seen++
	return nil
}

// chunks reads the chunks of a part of the file in order, through a window of
// memory that is as large as ahead, or as the largest chunk.
type chunks struct {
	r     io.ReaderAt
	next  int64 // offset of the next chunk in the file
	end   int64 // of the part
	ahead int64

	window []byte // the file's bytes from next on, as far as read
	store  []byte // what window lies in
}

// read returns the next chunk's place and payload, which holds until the next
// call; io.EOF after the last.
func (c *chunks) read() (place byte, payload []byte, err error) {
	if c.next == c.end {
		return 0, nil, io.EOF
	}
	if err := c.fill(chunkHead); err != nil {
		return 0, nil, err
	}
	length := int64(binary.LittleEndian.Uint32(c.window))
	if length > maxPayload {
		return 0, nil, damaged("chunk at %d: length %d is impossible", c.next, length)
	}
	if err := c.fill(chunkHead + length + chunkTail); err != nil {
		return 0, nil, err
	}
	body, rest := c.window[:chunkHead+length], c.window[chunkHead+length:]
	if binary.LittleEndian.Uint64(rest) != chunkSum(body, c.next) {
		return 0, nil, damaged("chunk at %d: checksum differs", c.next)
	}
	c.window = rest[chunkTail:]
	c.next += int64(len(body)) + chunkTail
	return body[4], body[chunkHead:], nil
}

// fill makes the window hold at least n bytes.
func (c *chunks) fill(n int64) error {
	have := int64(len(c.window))
	if have >= n {
		return nil
	}
	if n > c.end-c.next {
		return damaged("chunk at %d: cut off", c.next)
	}
	want := min(max(n, c.ahead), c.end-c.next)
	if int64(cap(c.store)) < want {
		c.store = make([]byte, want)
	}
	c.store = c.store[:want]
	copy(c.store, c.window)
	if err := readAt(c.r, c.store[have:], c.next+have); err != nil {
		return err
	}
	c.window = c.store
	return nil
}

// readAt reads all of b. The file being shorter than it was is damage, any other
// error is the drive's.
func readAt(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return damaged("cut off at %d", offset+int64(n))
	}
	return err
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}
