package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"time"
)

// checkFile reads a bbolt file without trusting any byte of it, and tells what
// cannot be right: ErrDamaged. bbolt maps the file and follows what it finds; a
// page that points to itself or counts 2^40 entries ends the process there, in
// ways that no recover catches. bbolt's own Check does the same, in a goroutine
// of its own. A file that passed here is safe to open.
//
// Buckets are read in the order of their names. When budget is over the rest is
// taken as good: the file index, which comes last and can be had again.
func checkFile(path string, budget time.Duration) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c := checker{r: f, size: info.Size(), deadline: time.Now().Add(budget)}
	err = c.check()
	switch {
	case errors.Is(err, errBudget):
		return nil
	case err == nil, errors.Is(err, ErrNewer):
		return err
	}
	return fmt.Errorf("%w (%v)", ErrDamaged, err)
}

var errBudget = errors.New("out of time")

// What a file of bbolt's format 2 consists of (its internal/common: page.go,
// meta.go, bucket.go), in the byte order of the machine.
const (
	pageHeader  = 16 // id 8, flags 2, count 2, overflow 4
	elementSize = 16 // branch: pos 4, ksize 4, page 8; leaf: flags 4, pos 4, ksize 4, vsize 4
	metaSize    = 64 // magic 4, version 4, page size 4, flags 4, root 16, freelist 8, end 8, txid 8, checksum 8
	bucketSize  = 16 // root page 8, sequence 8

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagMeta     = 0x04
	flagFreelist = 0x10
	flagBucket   = 0x01 // of a leaf element

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = ^uint64(0)

	// A page with its overflow holds one large value at most; the largest here is
	// a list of 1,000 problems. More than this is a wild number, not a value.
	maxPageRun = 256 << 20
)

var native = binary.NativeEndian

type checker struct {
	r        io.ReaderAt
	size     int64
	deadline time.Time

	pageSize int
	end      uint64 // pages from here on were never used
	free     bitmap
	seen     bitmap
}

type meta struct {
	pageSize            int
	root, freelist, end uint64
	txid                uint64
}

func (c *checker) check() error {
	m, err := c.meta()
	if err != nil {
		return err
	}
	c.pageSize, c.end = m.pageSize, m.end
	if m.end < 4 || m.end > uint64(c.size)/uint64(c.pageSize) {
		return fmt.Errorf("the file was cut off: %d pages of %d bytes in %d bytes", m.end, m.pageSize, c.size)
	}
	c.free, c.seen = newBitmap(m.end), newBitmap(m.end)
	if m.freelist != noFreelist {
		if err := c.freelist(m.freelist); err != nil {
			return err
		}
	}
	return c.tree(m.root, nil, nil, 0)
}

// meta finds the newer valid one of the two meta pages, as bbolt does: the page
// size stands in the first; if that is torn the second is looked for.
func (c *checker) meta() (meta, error) {
	first, err := c.metaAt(0)
	if errors.Is(err, ErrNewer) {
		return meta{}, err
	}
	if err == nil {
		second, err := c.metaAt(int64(first.pageSize))
		if err == nil && second.pageSize == first.pageSize && second.txid > first.txid {
			return second, nil
		}
		return first, nil
	}
	for size := int64(1 << 10); size <= 16<<20; size <<= 1 {
		if second, err := c.metaAt(size); err == nil && int64(second.pageSize) == size {
			return second, nil
		}
	}
	return meta{}, err
}

func (c *checker) metaAt(offset int64) (meta, error) {
	var page [pageHeader + metaSize]byte
	if _, err := c.r.ReadAt(page[:], offset); err != nil {
		return meta{}, fmt.Errorf("no meta page: %w", err)
	}
	b := page[pageHeader:]
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	if native.Uint32(b) != boltMagic || native.Uint64(b[56:]) != sum.Sum64() {
		return meta{}, errors.New("both meta pages are torn, or it is no database")
	}
	if v := native.Uint32(b[4:]); v != boltVersion {
		return meta{}, fmt.Errorf("%w: its database has format %d", ErrNewer, v)
	}
	m := meta{
		pageSize: int(native.Uint32(b[8:])),
		root:     native.Uint64(b[16:]),
		freelist: native.Uint64(b[32:]),
		end:      native.Uint64(b[40:]),
		txid:     native.Uint64(b[48:]),
	}
	if m.pageSize < 1<<10 || m.pageSize > 16<<20 || m.pageSize&(m.pageSize-1) != 0 {
		return meta{}, fmt.Errorf("pages of %d bytes", m.pageSize)
	}
	return m, nil
}

// page is a page with its overflow, or the page inside an inline bucket.
type page struct {
	id     uint64
	flags  uint16
	count  int
	data   []byte // the header too
	inline bool   // in a value of page id
}

// page reads a page that something points to; nothing else may point to it.
func (c *checker) page(id uint64) (page, error) {
	if id < 2 || id >= c.end {
		return page{}, fmt.Errorf("page %d is beyond the end", id)
	}
	data, offset := make([]byte, c.pageSize), int64(id)*int64(c.pageSize)
	if _, err := c.r.ReadAt(data, offset); err != nil {
		return page{}, err
	}
	overflow := uint64(native.Uint32(data[12:]))
	length := (overflow + 1) * uint64(c.pageSize)
	if native.Uint64(data) != id || id+overflow >= c.end || length > maxPageRun {
		return page{}, fmt.Errorf("page %d is torn", id)
	}
	for i := id; i <= id+overflow; i++ {
		if c.seen.has(i) || c.free.has(i) {
			return page{}, fmt.Errorf("page %d is used twice", i)
		}
		c.seen.set(i)
	}
	if overflow > 0 {
		data = make([]byte, length)
		if _, err := c.r.ReadAt(data, offset); err != nil {
			return page{}, err
		}
	}
	return parsePage(id, data), nil
}

func parsePage(id uint64, data []byte) page {
	return page{id: id, flags: native.Uint16(data[8:]), count: int(native.Uint16(data[10:])), data: data}
}

func (c *checker) freelist(id uint64) error {
	p, err := c.page(id)
	if err != nil {
		return err
	}
	ids, count := p.data[pageHeader:], uint64(p.count)
	if count == 0xFFFF { // then the first entry counts
		count, ids = native.Uint64(ids), ids[8:]
	}
	if p.flags != flagFreelist || count > uint64(len(ids)/8) {
		return fmt.Errorf("the list of free pages (page %d) is torn", id)
	}
	for i := range count {
		free := native.Uint64(ids[8*i:])
		if free < 2 || free >= c.end || c.free.has(free) || c.seen.has(free) {
			return fmt.Errorf("the list of free pages (page %d) has %d", id, free)
		}
		c.free.set(free)
	}
	return nil
}

// tree checks the pages from id down. Its keys lie in [low, high); nil: no bound.
func (c *checker) tree(id uint64, low, high []byte, depth int) error {
	if time.Now().After(c.deadline) {
		return errBudget
	}
	p, err := c.page(id)
	if err != nil {
		return err
	}
	switch {
	case depth > 64: // two entries a page at least: more than all pages there can be
		return fmt.Errorf("page %d is too deep", id)
	case p.count == 0 && (depth > 0 || p.flags == flagBranch): // a bucket may be empty, a part of it not
		return fmt.Errorf("page %d is empty", id)
	case p.flags == flagLeaf:
		return c.leaf(p, low, high)
	case p.flags == flagBranch:
		return c.branch(p, low, high, depth)
	}
	return fmt.Errorf("page %d has kind %#x", id, p.flags)
}

func (c *checker) branch(p page, low, high []byte, depth int) error {
	var keys [][]byte
	var children []uint64
	for i := range p.count {
		e := p.element(i)
		if e == nil {
			return fmt.Errorf("page %d is cut off", p.id)
		}
		key := slice(e, native.Uint32(e), native.Uint32(e[4:]))
		if err := p.order(i, key, low, high); err != nil {
			return err
		}
		low = key
		keys, children = append(keys, key), append(children, native.Uint64(e[8:]))
	}
	keys = append(keys, high)
	for i, child := range children {
		if err := c.tree(child, keys[i], keys[i+1], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) leaf(p page, low, high []byte) error {
	for i := range p.count {
		e := p.element(i)
		if e == nil {
			return fmt.Errorf("page %d is cut off", p.id)
		}
		flags, pos, ksize, vsize := native.Uint32(e), native.Uint32(e[4:]), native.Uint32(e[8:]), native.Uint32(e[12:])
		key := slice(e, pos, ksize)
		if err := p.order(i, key, low, high); err != nil {
			return err
		}
		low = key
		value := slice(e[pos:], ksize, vsize)
		if value == nil || flags&^flagBucket != 0 {
			return fmt.Errorf("page %d has a torn value", p.id)
		}
		if flags == flagBucket {
			if err := c.bucket(p, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// bucket checks a bucket in a value: it has a root page, or so little in it that
// its only page follows in the value.
func (c *checker) bucket(p page, value []byte) error {
	if len(value) < bucketSize || p.inline {
		return fmt.Errorf("page %d has a torn bucket", p.id)
	}
	if root := native.Uint64(value); root != 0 {
		return c.tree(root, nil, nil, 0)
	}
	if len(value) < bucketSize+pageHeader {
		return fmt.Errorf("page %d has a torn bucket", p.id)
	}
	in := parsePage(p.id, value[bucketSize:])
	in.inline = true
	if in.flags != flagLeaf {
		return fmt.Errorf("page %d has a torn bucket", p.id)
	}
	return c.leaf(in, nil, nil)
}

// element is the page from the start of element i on, from where positions are
// counted; nil if the page is too short.
func (p page) element(i int) []byte {
	start := pageHeader + i*elementSize
	if start+elementSize > len(p.data) {
		return nil
	}
	return p.data[start:]
}

// slice is b[pos:pos+n], nil if that is not within b.
func slice(b []byte, pos, n uint32) []byte {
	if uint64(pos)+uint64(n) > uint64(len(b)) {
		return nil
	}
	return b[pos : pos+n : pos+n]
}

// order checks key i of a page: behind low, the key before it, and below high. The
// first is the one that the parent has for this page: bbolt finds a page in its
// parent by it when the page changes, and else would enter the page twice.
func (p page) order(i int, key, low, high []byte) error {
	good := low == nil || bytes.Compare(key, low) > 0
	if i == 0 && low != nil {
		good = bytes.Equal(key, low)
	}
	if len(key) == 0 || !good || high != nil && bytes.Compare(key, high) >= 0 {
		return fmt.Errorf("page %d is out of order", p.id)
	}
	return nil
}

// bitmap is a set of pages.
type bitmap []uint64

func newBitmap(n uint64) bitmap    { return make(bitmap, n/64+1) }
func (b bitmap) has(i uint64) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitmap) set(i uint64)      { b[i/64] |= 1 << (i % 64) }
