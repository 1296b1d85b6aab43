package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// dataFolder is where everything lives that is not on a target: the flag's, the
// environment's, or the system's place for a program's state.
func dataFolder(flag string) (string, error) {
	if flag != "" {
		return absolute(flag)
	}
	if env := os.Getenv("HOURHAND_DATA"); env != "" {
		return absolute(env)
	}
	return systemDataFolder()
}

func systemDataFolder() (string, error) {
	switch runtime.GOOS {
	case "windows":
		if local := os.Getenv("LOCALAPPDATA"); local != "" {
			return filepath.Join(local, "Hourhand"), nil
		}
	case "darwin":
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, "Library", "Application Support", "Hourhand"), nil
		}
	default:
		// The XDG base directory specification: a relative path is to be ignored.
		if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
			return filepath.Join(state, "hourhand"), nil
		}
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, ".local", "state", "hourhand"), nil
		}
	}
	return "", fmt.Errorf("no place for the data folder: no home folder is known; name one with --data DIR")
}

// absolute makes a path that holds wherever the agent runs. A ".." is resolved
// as the system does it, through links, and not by its letters: after `cd link`,
// "../x" lies beside the folder that link leads to.
func absolute(path string) (string, error) {
	if path == "" {
		return "", usagef("an empty path names no folder")
	}
	if runtime.GOOS == "windows" || !hasParent(path) { // Windows itself resolves ".." by its letters
		return filepath.Abs(path)
	}
	if !filepath.IsAbs(path) {
		cwd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path = cwd + string(filepath.Separator) + path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir, base := filepath.Split(strings.TrimRight(path, "/"))
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", clean(path), err)
	}
	return filepath.Join(real, base), nil
}

func hasParent(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part == ".." {
			return true
		}
	}
	return false
}
