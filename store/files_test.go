package store

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// model is the file index as a map: what Index must come to.
type model map[string][]Version

func (m model) replace(hour int, files []File) {
	bit := uint32(1) << hour
	for path, versions := range m {
		for i := range versions {
			versions[i].Hours &^= bit
		}
		m[path] = versions
	}
	for _, f := range files {
		versions := m[f.Path]
		i := slices.IndexFunc(versions, func(v Version) bool { return f.is(v) })
		if i < 0 {
			versions, i = append(versions, Version{f.Size, f.MTime, f.Hash, 0}), len(versions)
		}
		versions[i].Hours |= bit
		m[f.Path] = versions
	}
	for path, versions := range m {
		versions = slices.DeleteFunc(versions, func(v Version) bool { return v.Hours == 0 })
		if m[path] = versions; len(versions) == 0 {
			delete(m, path)
		}
	}
}

// byComponent is the order of a scan: folder by folder, names by bytes.
func byComponent(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

func stream(files []File) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// randomFiles draws from few names, so that hours share, add and drop paths, with
// names that sort apart by bytes and by component.
func randomFiles(r *rand.Rand) []File {
	names := []string{"a", "a.b", "a b", "a-", "A", "\x01", "\xff\xfe", "é", "z"}
	paths := map[string]bool{}
	for range r.IntN(60) {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, names[r.IntN(len(names))])
		}
		paths[strings.Join(parts, "/")] = true
	}
	var files []File
	for _, path := range slices.SortedFunc(maps.Keys(paths), byComponent) {
		files = append(files, File{Path: path, Size: int64(r.IntN(2)), MTime: int64(r.IntN(2)) - 1, Hash: [16]byte{byte(r.IntN(2))}})
	}
	return files
}

func TestIndexIsWhatItWasFedWith(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	r := rand.New(rand.NewPCG(1, 1))
	want := model{}
	for round := range 120 {
		hour := r.IntN(24)
		files := randomFiles(r)
		if err := s.Index(j.ID, hour, fmt.Sprint("run-", round), stream(files)); err != nil {
			t.Fatal(err)
		}
		want.replace(hour, files)
		mustEqualModel(t, s, j.ID, want)
	}
}

// mustEqualModel compares by the exported doors alone.
func mustEqualModel(t *testing.T, s *Store, job string, want model) {
	t.Helper()
	var paths []string
	for path, err := range s.Search(job, "") {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if sorted := slices.SortedFunc(maps.Keys(want), byComponent); !slices.Equal(paths, sorted) {
		t.Fatalf("paths: got %q, want %q", paths, sorted)
	}
	for _, path := range paths {
		got, err := s.Versions(job, path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(got, func(a, b Version) int { return cmp.Compare(b.MTime, a.MTime) }) {
			t.Errorf("%q: not newest first: %v", path, got)
		}
		if !slices.Equal(sortVersions(got), sortVersions(want[path])) {
			t.Fatalf("%q: got %v, want %v", path, got, want[path])
		}
	}
}

func sortVersions(versions []Version) []Version {
	return slices.SortedFunc(slices.Values(versions), func(a, b Version) int {
		return cmp.Or(cmp.Compare(a.MTime, b.MTime), cmp.Compare(a.Size, b.Size), slices.Compare(a.Hash[:], b.Hash[:]))
	})
}

// More files than one batch or one transaction takes, and an hour that lost them.
func TestIndexOfManyFilesComesInBatches(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	const n = indexScan + indexBatch + 7
	steps := []struct {
		hour  int
		files iter.Seq2[File, error]
		want  int
	}{
		{3, files(n, ""), n},
		{4, files(n, "-b"), 2 * n},
		{3, files(0, ""), n}, // all of the others lie between the removed ones
		{4, files(10, "-b"), 10},
		{4, files(0, ""), 0},
	}
	for i, step := range steps {
		if err := s.Index(j.ID, step.hour, "run", step.files); err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, err := range s.Search(j.ID, "file") {
			if err != nil {
				t.Fatal(err)
			}
			count++
		}
		if count != step.want {
			t.Errorf("step %d: got %d paths, want %d", i, count, step.want)
		}
	}
}

func TestUnchangedHourWritesNoEntry(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	written := func() int64 {
		stats := s.db.bolt.Stats().TxStats
		return stats.GetWrite()
	}
	index := func() int64 {
		before := written()
		if err := s.Index(j.ID, 3, "run", files(20_000, "")); err != nil {
			t.Fatal(err)
		}
		return written() - before
	}
	if first, again := index(), index(); first < 100 || again > 20 {
		t.Errorf("got %d pages written, then %d", first, again)
	}
}

func TestIndexedTellsTheRunOnlyAfterAWholeStream(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	indexed := func(hour int) string {
		run, err := s.Indexed(j.ID, hour)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	if got := indexed(3); got != "" {
		t.Errorf("at first: got %q", got)
	}
	if err := s.Index(j.ID, 3, "first", files(5, "")); err != nil {
		t.Fatal(err)
	}
	if got := indexed(3); got != "first" || indexed(4) != "" {
		t.Errorf("got %q", got)
	}
	broken := errors.New("torn idx")
	err := s.Index(j.ID, 3, "second", func(yield func(File, error) bool) {
		_ = yield(File{Path: "a"}, nil) && yield(File{}, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if got := indexed(3); got != "" {
		t.Errorf("after an error: got %q", got)
	}
	unsorted := stream([]File{{Path: "a.b"}, {Path: "a/x"}})
	if err := s.Index(j.ID, 3, "third", unsorted); err == nil || indexed(3) != "" {
		t.Errorf("out of order: got %v, %q", err, indexed(3))
	}
}

func TestPathsTooLongForAKeyAreLeftOut(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	most := strings.Repeat("m", maxPath)
	if err := s.Index(j.ID, 3, "run", stream([]File{{Path: "a"}, {Path: most}, {Path: most + "x"}, {Path: "z"}})); err != nil {
		t.Fatal(err)
	}
	mustEqualModel(t, s, j.ID, model{"a": {{Hours: 8}}, most: {{Hours: 8}}, "z": {{Hours: 8}}})
	if v, err := s.Versions(j.ID, most+"x"); err != nil || v != nil {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestTornEntryOfTheIndexIsMended(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	if err := s.Index(j.ID, 3, "run", files(3, "")); err != nil {
		t.Fatal(err)
	}
	m := merge{s: s, job: j.ID}
	if err := m.write([]change{{[]byte(pathKey("dir-000/file-00001")), []byte{1, 2, 3}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Versions(j.ID, "dir-000/file-00001"); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	if err := s.Index(j.ID, 3, "run", files(3, "")); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Versions(j.ID, "dir-000/file-00001"); err != nil || len(v) != 1 {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestSearchIgnoresCase(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	paths := []string{"Bücher/ÄRGER.txt", "Kelvin \u212a", "bad\xff\xfe", "photos/IMG_1.jpg", "ΣΊΣΥΦΟΣ"}
	var list []File
	for _, p := range slices.SortedFunc(slices.Values(paths), byComponent) {
		list = append(list, File{Path: p})
	}
	if err := s.Index(j.ID, 3, "run", stream(list)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"img": paths[3], "PHOTOS/i": paths[3], "ärger": paths[0], "bÜCHER/ä": paths[0],
		"kelvin k": paths[1], "BAD\xff": paths[2], "\xfe": paths[2], "σίσυφος": paths[4],
		"nowhere": "", "bad\xfe": "",
	} {
		var got []string
		for path, err := range s.Search(j.ID, text) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, path)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// The reader of a search may write, stop, or take its time.
func TestSearchHoldsNoTransaction(t *testing.T) {
	s := openAt(t, t.TempDir(), noon)
	j := addJob(t, s, "a")
	if err := s.Index(j.ID, 3, "run", files(3*searchBatch, "")); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, err := range s.Search(j.ID, "file") {
		if err != nil {
			t.Fatal(err)
		}
		if open := s.db.bolt.Stats().OpenTxN; open != 0 {
			t.Fatalf("%d transactions are open", open)
		}
		if seen++; seen == searchBatch+1 {
			break
		}
	}
	if seen != searchBatch+1 {
		t.Errorf("got %d", seen)
	}
	for range s.Search("none", "") {
		t.Error("a job without an index has paths")
	}
}
