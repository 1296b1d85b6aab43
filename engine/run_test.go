package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMirrorMakesTheTargetEqual(t *testing.T) {
	w := newWorld(t)
	w.write("a/b/deep", "deep")
	w.write("a.b", "between a and a/b in byte order")
	w.write("a/x", "x")
	w.write("empty", "")
	w.write("large", strings.Repeat("0123456789abcdef", 3<<16))
	w.mkdir(filepath.Join(w.src, "an empty folder"))
	w.must(os.Symlink("a/x", filepath.Join(w.src, "link")))
	w.must(os.Symlink("nowhere", filepath.Join(w.src, "broken")))
	w.must(os.Link(filepath.Join(w.src, "large"), filepath.Join(w.src, "a/b/also large")))
	w.must(os.Chmod(filepath.Join(w.src, "a/x"), 0o640))
	w.must(os.Chtimes(filepath.Join(w.src, "a/x"), old, time.Unix(-86400, 1)))
	w.must(os.Chmod(filepath.Join(w.src, "a/b"), 0o750))
	w.must(os.Chtimes(filepath.Join(w.src, "a"), old, old))

	r := w.run(Done)
	if r.Copied.Files != 8 || r.Updated.Files != 0 {
		t.Errorf("copied %+v, updated %+v; want 8 new files and links", r.Copied, r.Updated)
	}
	w.equal()
	if st := w.state(); st.Content != Sealed || st.RunID != r.RunID || st.Files.Files != 6 {
		t.Errorf("state %+v; want sealed by %s with 6 files", st, r.RunID)
	}

	again := w.run(Done)
	if again.Copied.Files+again.Updated.Files+again.Removed.Files != 0 || again.Unchanged.Files != 8 || again.Changed {
		t.Errorf("second run: %+v; want 8 unchanged and nothing touched", again)
	}
	w.equal()
}
