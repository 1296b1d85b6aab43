//go:build linux && root

package manifest

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
)

// strangeFiles are contents by path. Every byte that a Linux name can hold is in
// one of them.
func strangeFiles() map[string]string {
	files := map[string]string{
		"plain": "", "a/x": "1", "a.b": "2", "two  spaces": "3", " lead": "4", "trail ": "5", `back\slash`: "6",
		`\n`: "7", "-x": "8", "--check": "9", `"quoted"`: "10", "'": "11", "#": "12", "*": "13", "\xfe": "14", "\xff": "15",
		"(x) = 1": "16", "deep/\xff/- /" + strings.Repeat("n", 255): "17", "tab\t": "18", "$(x)": "19", `\`: "20",
	}
	for b := 1; b < 256; b++ {
		if b != '/' && b != '\n' && b != '\r' {
			files["bytes/a"+string([]byte{byte(b)})] = string([]byte{byte(b), 'x'})
		}
	}
	return files
}

func TestXxhsumChecksAManifest(t *testing.T) {
	if _, err := exec.LookPath("xxhsum"); err != nil {
		t.Fatalf("this test needs xxhsum (apt install xxhash): %v", err)
	}
	dir, files := t.TempDir(), strangeFiles()
	for path, text := range files {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var text bytes.Buffer
	w := NewWriter(&text, nil)
	for _, path := range slices.SortedFunc(maps.Keys(files), index.ComparePaths) {
		if err := w.Add(path, xxh3.Hash128([]byte(files[path])).Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	sum, _, _, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "14.xxh128")
	if err := os.WriteFile(list, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}

	out, err := xxhsum(dir, "--check", "--strict", list)
	if got := strings.Count(out, ": OK\n"); err != nil || got != len(files) {
		t.Errorf("xxhsum -c finds %d of %d files right: %v\n%s", got, len(files), err, out)
	}
	if out, err := xxhsum(dir, "-H128", list); err != nil || !strings.HasPrefix(out, sum.String()+"  ") {
		t.Errorf("xxhsum -H128 of the manifest: got %q, %v, want %v", out, err, sum)
	}
	if err := os.WriteFile(filepath.Join(dir, "-x"), []byte("rot"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := xxhsum(dir, "--check", list); err == nil || strings.Count(out, ": OK\n") != len(files)-1 {
		t.Errorf("xxhsum -c does not notice the altered file: %v\n%s", err, out)
	}
}

func xxhsum(dir string, args ...string) (string, error) {
	cmd := exec.Command("xxhsum", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return string(out), err
}
