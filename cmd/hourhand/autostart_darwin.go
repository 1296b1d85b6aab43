package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func autostartOn(command []string) (where string, err error) {
	path, err := plistPath()
	if err != nil {
		return "", err
	}
	return "launch agent " + path, writeStartFile(path, plistText(command))
}

func autostartOff() error {
	path, err := plistPath()
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func autostartWhere() (where string, err error) {
	path, err := plistPath()
	if err != nil {
		return "", err
	}
	switch _, err := os.Lstat(path); {
	case err == nil:
		return "launch agent " + path, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", err
	}
}

func plistPath() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, "Library", "LaunchAgents", agentLabel+".plist"), err
}
