package main

import (
	"errors"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// The Run key of the user: no rights needed, and it stands in the task manager's
// list of programs that start at login, where people look.
const (
	runKey   = `Software\Microsoft\Windows\CurrentVersion\Run`
	runValue = "Hourhand"
)

func autostartOn(command []string) (where string, err error) {
	k, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return "", err
	}
	defer k.Close()
	return runWhere, k.SetStringValue(runValue, windows.ComposeCommandLine(command))
}

const runWhere = `HKEY_CURRENT_USER\` + runKey + `, value ` + runValue

func autostartOff() error {
	k, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer k.Close()
	if err := k.DeleteValue(runValue); !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return nil
}

func autostartWhere() (where string, err error) {
	k, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer k.Close()
	_, _, err = k.GetStringValue(runValue)
	if errors.Is(err, registry.ErrNotExist) {
		return "", nil
	}
	return runWhere, err
}
