package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const unitName = "hourhand.service"

// autostartOn uses systemd where the user has an instance of it, else what
// desktops start at login.
func autostartOn(command []string) (where string, err error) {
	unit, desktop, err := startFiles()
	if err != nil {
		return "", err
	}
	if userctl("show-environment") != nil {
		return "desktop entry " + desktop, writeStartFile(desktop, desktopText(command))
	}
	if err := writeStartFile(unit, unitText(command)); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"daemon-reload"}, {"enable", unitName}} {
		if err := userctl(args...); err != nil {
			return "", err
		}
	}
	return "systemd user unit " + unit + "; start it now with: systemctl --user start hourhand", os.RemoveAll(desktop)
}

func autostartOff() error {
	unit, desktop, err := startFiles()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(unit); err == nil {
		if err := userctl("disable", unitName); err != nil {
			return err
		}
	}
	for _, path := range []string{unit, desktop} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func autostartWhere() (where string, err error) {
	unit, desktop, err := startFiles()
	if err != nil {
		return "", err
	}
	for _, f := range []struct{ kind, path string }{{"systemd user unit ", unit}, {"desktop entry ", desktop}} {
		_, err := os.Lstat(f.path)
		if err == nil {
			return f.kind + f.path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

// startFiles are the two files that may start the agent.
func startFiles() (unit, desktop string, err error) {
	config, err := os.UserConfigDir()
	return filepath.Join(config, "systemd", "user", unitName), filepath.Join(config, "autostart", "hourhand.desktop"), err
}

func userctl(args ...string) error {
	out, err := exec.Command("systemctl", append([]string{"--user"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl --user %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
