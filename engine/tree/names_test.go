package tree

import (
	"strings"
	"testing"
)

func TestNameErrorTellsWhatAVolumeCannotHold(t *testing.T) {
	long := strings.Repeat("ä", 130) // 260 bytes, 130 characters
	for _, c := range []struct {
		name, fileSystem string
		max              int
		ok               bool
	}{
		{"plain", "ext4", 255, true},
		{`a:b*?<>|"\`, "ext4", 255, true},
		{"CON", "xfs", 255, true},
		{"ends.", "btrfs", 255, true},
		{"\xff", "ext4", 255, true},
		{"line\nfeed", "ext4", 255, true},
		{long, "ext4", 255, false},
		{strings.Repeat("a", 255), "ext4", 255, true},
		{strings.Repeat("a", 256), "ext4", 255, false},
		{strings.Repeat("a", 144), "ecryptfs", 143, false},
		{long, "exfat", 1530, true},
		{strings.Repeat("😀", 127), "exfat", 1530, true},
		{strings.Repeat("😀", 128), "exfat", 1530, false},
		{strings.Repeat("a", 256), "ntfs", 0, false},
		{"a:b", "ntfs", 0, false},
		{"a:b", "exfat", 1530, false},
		{"a:b", "vfat", 1530, false},
		{"a:b", "cifs", 255, false},
		{"a:b", "fuseblk", 255, true},
		{"what?", "exfat", 1530, false},
		{`back\slash`, "exfat", 1530, false},
		{"tab\t", "exfat", 1530, false},
		{"ends.", "exfat", 1530, false},
		{"ends ", "vfat", 1530, false},
		{".starts", "vfat", 1530, true},
		{"\xff", "exfat", 1530, false},
		{"CON", "vfat", 1530, false},
		{"con.txt", "ntfs", 0, false},
		{"nul .txt", "ntfs", 0, false},
		{"CONIN$", "ntfs", 0, false},
		{"Com1", "ntfs", 0, false},
		{"COM0", "ntfs", 0, true},
		{"COM10", "ntfs", 0, true},
		{"COM", "ntfs", 0, true},
		{"COM ", "ntfs", 0, false}, // ends in a blank
		{"LPT³.log", "ntfs", 0, false},
		{"CONSOLE", "ntfs", 0, true},
	} {
		got := NameError(c.name, Volume{FileSystem: c.fileSystem, NameMax: c.max})
		if (got == "") != c.ok {
			t.Errorf("%q on %s: got %q, want allowed %v", c.name, c.fileSystem, got, c.ok)
		}
	}
}

func TestFoldMapsNamesThatTheVolumeTakesForOne(t *testing.T) {
	folds, forms, both := Caps{FoldsCase: true}, Caps{FoldsForm: true}, Caps{FoldsCase: true, FoldsForm: true}
	for _, c := range []struct {
		a, b string
		caps Caps
		same bool
	}{
		{"a", "A", Caps{}, false},
		{"a", "A", folds, true},
		{"a", "A", forms, false},
		{"é", "É", folds, true},
		{"é", "e\u0301", Caps{}, false},
		{"é", "e\u0301", folds, false},
		{"é", "e\u0301", forms, true},
		{"É", "e\u0301", both, true},
		{"ΑΣ", "ας", folds, true}, // final sigma
		{"a", "b", both, false},
		{"\xff", "\xfe", both, false}, // not UTF-8: bytes
		{"！", "!", both, false},       // full width is another character
	} {
		if got := Fold(c.a, c.caps) == Fold(c.b, c.caps); got != c.same {
			t.Errorf("%q and %q by %+v: got %v, want %v", c.a, c.b, c.caps, got, c.same)
		}
	}
}
