package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestDataFolderByFlagEnvironmentSystem(t *testing.T) {
	t.Setenv("HOURHAND_DATA", "")
	t.Setenv("XDG_STATE_HOME", filepath.FromSlash("/state"))
	t.Setenv("HOME", filepath.FromSlash("/home/me"))
	t.Setenv("LOCALAPPDATA", `C:\Users\me\AppData\Local`)
	system := map[string]string{
		"windows": `C:\Users\me\AppData\Local\Hourhand`,
		"darwin":  "/home/me/Library/Application Support/Hourhand",
		"linux":   "/state/hourhand",
	}[runtime.GOOS]
	if got, err := dataFolder(""); err != nil || got != system {
		t.Errorf("without flag and environment: got %q, %v, want %q", got, err, system)
	}
	dir := t.TempDir()
	t.Setenv("HOURHAND_DATA", dir)
	if got, err := dataFolder(""); err != nil || got != dir {
		t.Errorf("by environment: got %q, %v, want %q", got, err, dir)
	}
	flag := filepath.Join(dir, "other")
	if got, err := dataFolder(flag); err != nil || got != flag {
		t.Errorf("by flag: got %q, %v, want %q", got, err, flag)
	}
	if runtime.GOOS == "linux" {
		t.Setenv("HOURHAND_DATA", "")
		t.Setenv("XDG_STATE_HOME", "relative")
		if got, err := dataFolder(""); err != nil || got != "/home/me/.local/state/hourhand" {
			t.Errorf("with a relative XDG_STATE_HOME: got %q, %v", got, err)
		}
	}
}

func TestParentIsResolvedThroughLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // Windows resolves ".." by its letters
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "real", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "real", "deep"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "link"))
	t.Setenv("PWD", filepath.Join(root, "link")) // as a shell has it after cd link
	for _, c := range []struct{ path, want string }{
		{"x", "link/x"}, // no "..": as it is
		{"./x/", "link/x"},
		{"..", "real"},
		{"../new", "real/new"},
		{"../new/", "real/new"},
		{filepath.Join(root, "link") + "/../new", "real/new"},
	} {
		got, err := absolute(c.path)
		if want := filepath.Join(root, c.want); err != nil || got != want {
			t.Errorf("absolute(%q): got %q, %v, want %q", c.path, got, err, want)
		}
	}
	if got, err := absolute("../no/such/new"); err == nil {
		t.Errorf("below a missing folder: got %q, want an error", got)
	}
	if _, err := absolute(""); codeOf(err) != codeUsage {
		t.Errorf("an empty path: got %v, want a usage error", err)
	}
}
