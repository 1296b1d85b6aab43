package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"
)

// An idx is, with all fixed numbers little endian and all checksums XXH3-64:
//
//	header   magic, manifest hash, length and bytes of the run id, checksum
//	blocks   one for each folder that has entries, in the order of Key
//	table    a row for each block: XXH3-64 of the folder's path, offset, length
//	trailer  table offset, rows, entries, table checksum, and the checksum of
//	         header and trailer
//
// A block is a chain of chunks of about 64 KB, so that a folder of any size is
// written and walked in little memory:
//
//	chunk    length of the payload (4 bytes), place in the block (1 byte),
//	         payload, checksum
//
// The first chunk's payload begins with the folder's path; then come entries
// (codec.go), the first of each chunk after a zero entry. A chunk's checksum is
// seeded with its offset: a chunk that a drive returns from another place is
// damage too.
const (
	magic = "hhidx\r\n\x01" // the last byte is the version

	chunkTarget = 64 << 10
	chunkHead   = 4 + 1
	chunkTail   = 8
	rowSize     = 8 + 8 + 8
	trailerSize = 5 * 8
	maxHeader   = len(magic) + 16 + 1 + 255 + 8

	// Longer than any system's: Windows has 255 UTF-16 units, Linux 255 bytes.
	maxName = 16 << 10
	// Folders are reached one by one, so PATH_MAX is no limit; this one is.
	maxDir = 1 << 20
	// A folder's path, and what one entry can add to a chunk that is nearly full.
	maxPayload = maxDir + chunkTarget + maxName + 256
)

// Places of a chunk in its block.
const (
	firstChunk = 1 << iota
	lastChunk
)

// row of the table.
type row struct {
	hash           uint64
	offset, length int64
}

// byHash is the order of the table.
func byHash(a, b row) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.offset, b.offset))
}

func appendHeader(b []byte, h Header) []byte {
	b = append(b, magic...)
	b = append(b, h.Manifest[:]...)
	b = append(b, byte(len(h.RunID)))
	b = append(b, h.RunID...)
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

// parseHeader reads the header at the start of b and tells its length.
func parseHeader(b []byte) (h Header, n int, err error) {
	fixed := len(magic) + len(h.Manifest) + 1
	if len(b) < fixed || string(b[:len(magic)-1]) != magic[:len(magic)-1] {
		return h, 0, errors.New("it does not begin as an index")
	}
	if v := b[len(magic)-1]; v != magic[len(magic)-1] {
		return h, 0, fmt.Errorf("its version %d is unknown", v)
	}
	copy(h.Manifest[:], b[len(magic):])
	end := fixed + int(b[fixed-1])
	if len(b) < end+8 || binary.LittleEndian.Uint64(b[end:]) != xxh3.Hash(b[:end]) {
		return h, 0, errors.New("checksum of the header differs")
	}
	h.RunID = string(b[fixed:end])
	return h, end + 8, nil
}

func appendRow(b []byte, r row) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.hash)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.offset))
	return binary.LittleEndian.AppendUint64(b, uint64(r.length))
}

func parseRow(b []byte) row {
	return row{
		hash:   binary.LittleEndian.Uint64(b),
		offset: int64(binary.LittleEndian.Uint64(b[8:])),
		length: int64(binary.LittleEndian.Uint64(b[16:])),
	}
}

// trailer is what the end of the file tells.
type trailer struct {
	table    int64 // offset
	rows     int64
	entries  int64
	tableSum uint64
}

func appendTrailer(b []byte, t trailer, header []byte) []byte {
	start := len(b)
	for _, v := range []uint64{uint64(t.table), uint64(t.rows), uint64(t.entries), t.tableSum} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(b, trailerSum(header, b[start:]))
}

// parseTrailer reads exactly trailerSize bytes.
func parseTrailer(b, header []byte) (t trailer, err error) {
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	if at(4) != trailerSum(header, b[:32]) {
		return t, errors.New("checksum of the trailer differs: it was cut off or altered")
	}
	return trailer{table: int64(at(0)), rows: int64(at(1)), entries: int64(at(2)), tableSum: at(3)}, nil
}

func trailerSum(header, fields []byte) uint64 {
	return xxh3.HashSeed(fields, xxh3.Hash(header))
}

// chunkSum is the checksum of a chunk's head and payload at a file's offset.
func chunkSum(headAndPayload []byte, offset int64) uint64 {
	return xxh3.HashSeed(headAndPayload, uint64(offset))
}
