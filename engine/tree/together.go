package tree

import (
	"io/fs"
	"os"
)

// Small is the size below which files are worth being read together.
const Small = 128 << 10

// Together is the most files that are read at once. 64 of 4 KiB keep a drive
// busy for some milliseconds; their kernel queue is 4 KiB large.
const Together = 64

// togetherRead is one file that is read with others.
type togetherRead struct {
	f    *os.File
	size int64  // that a stat told
	buf  []byte // aligned, longer than size
	n    int    // bytes that were read
	err  error
}

// Group gathers small files that are to be read at once, into one piece of
// memory. The zero value is empty; Free it in the end.
type Group struct {
	reads []*togetherRead
	buf   *[]byte
	used  int   // of buf
	bytes int64 // that the files hold
}

// Add takes a file into the group, if there is room for size bytes of it; else it
// reports false. The file's position does not matter.
func (g *Group) Add(f *os.File, size int64) bool {
	room := int(size/Block*Block + Block) // a byte more at least: where the end is must show
	if size >= Small || len(g.reads) == Together || g.used+room > PieceSize {
		return false
	}
	if g.buf == nil {
		g.buf = pieces.Get().(*[]byte)
	}
	g.reads = append(g.reads, &togetherRead{f: f, size: size, buf: (*g.buf)[g.used : g.used+room : g.used+room]})
	g.used += room
	g.bytes += size
	return true
}

// Len is the number of files in the group.
func (g *Group) Len() int { return len(g.reads) }

// Read reads all files of the group. What Bytes gives of each is then known.
func (g *Group) Read(step Step) error {
	return step(int(g.bytes), func() error {
		readTogether(g.reads)
		return nil
	})
}

// Bytes is all of the i-th file, valid until Free. A file that is longer or
// shorter than it was said to be when it was added is ErrResized.
func (g *Group) Bytes(i int) ([]byte, error) {
	r := g.reads[i]
	if r.err == nil && int64(r.n) != r.size {
		r.err = &fs.PathError{Op: "read", Path: r.f.Name(), Err: ErrResized}
	}
	return r.buf[:r.n], r.err
}

// Free empties the group and gives its memory back.
func (g *Group) Free() {
	if g.buf != nil {
		pieces.Put(g.buf)
	}
	*g = Group{}
}
