package index

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hourhand/hourhand/engine/tree"
)

var testHeader = Header{RunID: "run-7", Manifest: [16]byte{1, 2, 15: 9}}

// file is an entry of a regular file that differs from the next one as usual.
func file(dir, name string, i int64) Located {
	t := int64(1_700_000_000_000_000_000) + i*1_234_567_890
	return Located{dir, Entry{
		Name: name, Kind: tree.File, How: Device, Size: i * 1000, Hash: [16]byte{byte(i), 1, 15: byte(i >> 8)},
		Source: Stamp{t, t + 5, uint64(1000 + i)}, Target: Stamp{t, t + 1e12, uint64(5000 + i)}, Proved: 1_700_000_000 + i/100,
	}}
}

func folder(dir, name string) Located { return Located{dir, Entry{Name: name, Kind: tree.Folder}} }

// build writes an idx.
func build(t testing.TB, entries ...Located) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, testHeader)
	for _, l := range entries {
		if err := w.Add(l.Dir, l.Entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, idx []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(idx), int64(len(idx)), "14.idx")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// all collects a stream that must not fail.
func collect(t testing.TB, seq iter.Seq2[Located, error]) (got []Located) {
	t.Helper()
	for l, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	return got
}

func same(t *testing.T, what string, got, want []Located) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %d entries, want %d", what, len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: entry %d: got %+v\nwant %+v", what, i, got[i], want[i])
			return
		}
	}
}

func byKey(a, b Located) int  { return bytes.Compare(Key(a.Dir, a.Name), Key(b.Dir, b.Name)) }
func byPath(a, b Located) int { return ComparePaths(a.Path(), b.Path()) }

// entriesOf is all of a folder at once; ok false: the idx has no entries in it.
func entriesOf(r *Reader, dir string) (entries []Entry, ok bool, err error) {
	f, err := r.Folder(dir)
	if f == nil {
		return nil, false, err
	}
	for e := range f.All() {
		entries = append(entries, *e)
	}
	if err := f.Err(); err != nil {
		return nil, false, err
	}
	return entries, true, nil
}

// randomTree makes entries in random folders, some without an entry of their own,
// in the order of Key.
func randomTree(r *rand.Rand, n int) []Located {
	names := []string{"a", "a.b", "a b", "ab", "b", "B", "é", "\xff", "a\n", "-", "\x01", "z"}
	made := map[string]bool{}
	var out []Located
	for i := range n {
		dir := ""
		for range r.IntN(4) {
			name := names[r.IntN(len(names))]
			path := Located{dir, Entry{Name: name}}.Path()
			if r.IntN(4) > 0 && !made[path] {
				made[path] = true
				out = append(out, folder(dir, name))
			}
			dir = path
		}
		l := file(dir, fmt.Sprintf("%s%d", names[r.IntN(len(names))], r.IntN(9)), int64(i))
		if !made[l.Path()] {
			made[l.Path()] = true
			out = append(out, l)
		}
	}
	slices.SortFunc(out, byKey)
	return out
}

func TestIdxReturnsWhatWasWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		want := randomTree(r, n*n/4)
		idx := open(t, build(t, want...))
		same(t, "All", collect(t, idx.All()), want)
		if idx.Header() != testHeader || idx.Len() != int64(len(want)) {
			t.Errorf("got header %+v and %d entries, want %+v and %d", idx.Header(), idx.Len(), testHeader, len(want))
		}
		byDir := map[string][]Located{}
		for _, l := range want {
			byDir[l.Dir] = append(byDir[l.Dir], l)
		}
		for dir, want := range byDir {
			entries, ok, err := entriesOf(idx, dir)
			if !ok || err != nil {
				t.Fatalf("Dir(%q): got ok %v, error %v", dir, ok, err)
			}
			var got []Located
			for _, e := range entries {
				got = append(got, Located{dir, e})
			}
			same(t, "Dir", got, want)
		}
		slices.SortFunc(want, byPath)
		same(t, "Walk", collect(t, idx.Walk()), want)
	}
}

func TestEveryFieldSurvives(t *testing.T) {
	big, small := Stamp{math.MaxInt64, math.MinInt64, math.MaxUint64}, Stamp{math.MinInt64, math.MaxInt64, 0}
	want := []Located{
		{"", Entry{Name: "0"}},
		{"", Entry{Name: "1", Kind: tree.File, Flags: allFlags, How: Clone, Size: math.MaxInt64, Hash: [16]byte{1}, NextHash: [16]byte{2}, Source: big, Target: small, Proved: math.MinInt64, Put: math.MaxInt64, Seq: -1}},
		{"", Entry{Name: "2", Kind: tree.Special, Source: small, Target: big, Proved: math.MaxInt64, Put: math.MinInt64, Seq: 1}},
		{"", Entry{Name: "2" + strings.Repeat("x", maxName-1), Kind: tree.Link, NextHash: [16]byte{3}, Target: Stamp{ID: 1}, Seq: 2}},
		{"", Entry{Name: "\xff\\\n", Kind: tree.File, Flags: Partial, Hash: [16]byte{4}}},
	}
	idx := open(t, build(t, want...))
	same(t, "All", collect(t, idx.All()), want)
	entries, _, err := entriesOf(idx, "")
	if err != nil || len(entries) != len(want) {
		t.Errorf("Dir: got %d entries, error %v", len(entries), err)
	}
}

func TestFolderWithoutEntriesIsNotThere(t *testing.T) {
	for _, idx := range []*Reader{open(t, build(t)), open(t, build(t, folder("", "empty")))} {
		for _, dir := range []string{"empty", "nowhere", "../x", "a//b"} {
			if entries, ok, err := entriesOf(idx, dir); ok || err != nil || entries != nil {
				t.Errorf("Dir(%q): got %v, %v, %v, want nothing", dir, entries, ok, err)
			}
		}
	}
	if got := collect(t, open(t, build(t)).Walk()); len(got) > 0 {
		t.Errorf("an empty idx walks %v", got)
	}
}

func TestLargeFolderIsCutIntoChunks(t *testing.T) {
	want := []Located{folder("", "big")}
	for i := range int64(20_000) {
		want = append(want, file("big", fmt.Sprintf("IMG_%09d.jpg", i), i))
	}
	data := build(t, want...)
	idx := open(t, data)
	if got, max := len(data)/len(want), 60; got > max {
		t.Errorf("%d bytes an entry, want at most %d", got, max)
	}
	same(t, "All", collect(t, idx.All()), want)
	same(t, "Walk", collect(t, idx.Walk()), want)
	entries, ok, err := entriesOf(idx, "big")
	if err != nil || !ok || len(entries) != len(want)-1 {
		t.Errorf("Dir: got %d entries, %v, %v", len(entries), ok, err)
	}
	b, err := idx.find("big")
	if err != nil {
		t.Fatal(err)
	}
	for b.next() == nil {
	}
	if got := cap(b.in.store); got > 2*chunkTarget {
		t.Errorf("reading a large folder took a window of %d bytes", got)
	}
}

func TestCollidingHashesAreToldApart(t *testing.T) {
	want := []Located{file("", "r", 1), file("a", "x", 2), file("b", "x", 3)}
	idx := open(t, build(t, want...))
	for i := range idx.rows { // as if all paths had one hash
		idx.rows[i].hash = 7
	}
	slices.SortFunc(idx.rows, byHash)
	for i, dir := range []string{"", "a", "b"} {
		var got *blocks
		for _, x := range idx.rows {
			if b, err := idx.open(x); err != nil {
				t.Fatal(err)
			} else if b.dir == dir {
				got = b
			}
		}
		if err := got.next(); err != nil || got.e != want[i].Entry {
			t.Errorf("%q: got %+v, %v", dir, got.e, err)
		}
	}
}

func TestWriterRefusesDisorderAndBadNames(t *testing.T) {
	first := file("m", "m", 1)
	bad := []Located{
		file("m", "m", 1), file("m", "a", 1), file("", "z", 1), file("l", "z", 1),
		file("m", "", 1), file("m", ".", 1), file("m", "..", 1), file("m", "x/y", 1), file("m", "x\x00", 1),
		file("m/..", "x", 1), file("n//o", "x", 1), file("/n", "x", 1), file("n/", "x", 1), file("n\x00", "x", 1),
		file("m", "n", -1), file("m", strings.Repeat("n", maxName+1), 1), file("n"+strings.Repeat("/n", maxDir/2), "x", 1),
		{"m", Entry{Name: "x", Kind: tree.Special + 1}}, {"m", Entry{Name: "x", How: Clone + 1}}, {"m", Entry{Name: "x", Flags: 1 << 7}},
	}
	for _, l := range bad {
		w := NewWriter(new(bytes.Buffer), testHeader)
		if err := w.Add(first.Dir, first.Entry); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(l.Dir, l.Entry); err == nil {
			t.Errorf("%.60q in %.60q was written", l.Name, l.Dir)
		}
		if w.Close() == nil {
			t.Errorf("Close after an error gave an idx")
		}
	}
	if NewWriter(new(bytes.Buffer), Header{RunID: strings.Repeat("x", 256)}).Close() == nil {
		t.Error("a run id that does not fit was written")
	}
}

func TestEveryDamagedByteIsNoticed(t *testing.T) {
	want := randomTree(rand.New(rand.NewPCG(3, 4)), 12)
	good := build(t, want...)
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x20
		checkDamaged(t, fmt.Sprintf("byte %d", i), bad)
	}
	for n := range len(good) {
		checkDamaged(t, fmt.Sprintf("cut at %d", n), good[:n])
	}
}

// checkDamaged expects ErrDamaged from NewReader, or from both streams.
func checkDamaged(t *testing.T, what string, idx []byte) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(idx), int64(len(idx)), "14.idx")
	if err != nil {
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "14.idx") {
			t.Errorf("%s: got %v, want ErrDamaged with the file's name", what, err)
		}
		return
	}
	for _, seq := range []iter.Seq2[Located, error]{r.All(), r.Walk()} {
		var last error
		for _, err := range seq {
			last = err
		}
		if !errors.Is(last, ErrDamaged) || !strings.Contains(last.Error(), "14.idx") {
			t.Errorf("%s: got %v, want ErrDamaged with the file's name", what, last)
		}
	}
}

// A drive may return a good sector from another place.
func TestSwappedBlocksAreNoticed(t *testing.T) {
	idx := build(t, file("a", "x", 1), file("b", "x", 1), file("c", "x", 2))
	r := open(t, idx)
	rows := slices.Clone(r.rows)
	slices.SortFunc(rows, func(a, b row) int { return int(a.offset - b.offset) })
	a, b := rows[0], rows[1]
	if a.length != b.length {
		t.Fatal("the blocks must be of one length")
	}
	copy(idx[a.offset:], slices.Concat(idx[b.offset:b.offset+b.length], idx[a.offset:a.offset+a.length]))
	if _, _, err := entriesOf(open(t, idx), "a"); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
}

type failingReader struct {
	*bytes.Reader
	fail error
}

func (f *failingReader) ReadAt(b []byte, off int64) (int, error) {
	if f.fail != nil {
		return 0, f.fail
	}
	return f.Reader.ReadAt(b, off)
}

func TestDriveErrorIsNoDamage(t *testing.T) {
	idx := build(t, file("", "x", 1))
	f := &failingReader{Reader: bytes.NewReader(idx)}
	r, err := NewReader(f, int64(len(idx)), "14.idx")
	if err != nil {
		t.Fatal(err)
	}
	f.fail = errors.New("no such device")
	_, _, dirErr := entriesOf(r, "")
	_, newErr := NewReader(f, int64(len(idx)), "14.idx")
	for _, err := range []error{dirErr, newErr} {
		if !errors.Is(err, f.fail) || errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, want the drive's error alone", err)
		}
	}
}

func TestUnknownVersionSaysSo(t *testing.T) {
	idx := build(t, file("", "x", 1))
	idx[len(magic)-1]++
	_, err := NewReader(bytes.NewReader(idx), int64(len(idx)), "14.idx")
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v, want ErrDamaged that names the version", err)
	}
}

func TestStreamsCanBeLeftEarly(t *testing.T) {
	idx := open(t, build(t, file("", "x", 1), file("", "y", 2), file("z", "y", 2)))
	for _, seq := range []iter.Seq2[Located, error]{idx.All(), idx.Walk()} {
		for l := range seq {
			if l.Name != "x" {
				t.Errorf("got %q first, want x", l.Name)
			}
			break
		}
	}
}
