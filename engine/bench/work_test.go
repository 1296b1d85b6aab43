package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// contents is what a tree holds, by path: the hashes of files, "folder" or "link".
func contents(t testing.TB, root string) map[string]any {
	t.Helper()
	all := map[string]any{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case rel == ".hourhand":
			return fs.SkipDir
		case rel == ".":
			return nil
		case e.IsDir():
			all[rel] = "folder"
			return nil
		case !e.Type().IsRegular():
			all[rel] = "link"
			return nil
		}
		data, err := os.ReadFile(path)
		all[rel] = xxh3.Hash128(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTreesAreTheSameEachTime(t *testing.T) {
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			var got [2]map[string]any
			for i := range got {
				root := filepath.Join(t.TempDir(), "tree")
				if err := w.write(t.Context(), root, w.files(MinSize)); err != nil {
					t.Fatal(err)
				}
				got[i] = contents(t, root)
			}
			if len(got[0]) == 0 || !reflect.DeepEqual(got[0], got[1]) {
				t.Errorf("the second tree differs from the first: %d and %d entries", len(got[0]), len(got[1]))
			}
		})
	}
}

func TestTreesHaveTheCountsOfTheReports(t *testing.T) {
	for _, c := range []struct {
		work                  string
		size                  int64
		files, folders, bytes int64
	}{
		{"one file", DefaultSize, 1, 0, 400_000_000},
		{"photos", DefaultSize, 75, 2, 300_000_000},
		{"mixed", DefaultSize, 6313, 429, 250_000_000},
		{"mixed", 100_000_000, 6313, 429, 25_000_000},
		{"texts", DefaultSize, 25_000, 501, 50_000_000},
		{"texts", 1e18, 100_000, 2001, 200_000_000},
		{"photos", 1e18, 100_000, 201, 400_000_000_000},
		{"photos", MinSize, 8, 2, 300_000},
	} {
		w := works[slices.IndexFunc(works, func(w work) bool { return w.name == c.work })]
		files := w.files(c.size)
		bytes, folders := sum(files)
		if int64(len(files)) != c.files || folders != c.folders || bytes != c.bytes {
			t.Errorf("%s of %d: got %d files, %d folders, %d bytes, want %d, %d, %d",
				c.work, c.size, len(files), folders, bytes, c.files, c.folders, c.bytes)
		}
	}
}

func TestSharesAreTheWhole(t *testing.T) {
	whole := 0.0
	for _, w := range works {
		whole += w.share
	}
	if whole < 0.999 || whole > 1.001 {
		t.Errorf("the trees are %v of the size, want 1", whole)
	}
}

func TestTextsAreOfWords(t *testing.T) {
	b := []byte{0, 1, 77, 255, 130, 9}
	spell(b)
	if strings.Trim(string(b), "etaoinshrdlu \n") != "" {
		t.Errorf("got %q, want letters and spaces", b)
	}
}
