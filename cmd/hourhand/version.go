package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.printf("hourhand %s %s/%s %s", version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		},
	}
}

// version is the module's, or the commit's where it was built from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if info.Main.Version != "(devel)" && info.Main.Version != "" {
		return info.Main.Version
	}
	if revision == "" {
		return "unreleased"
	}
	if settings["vcs.modified"] == "true" {
		return fmt.Sprintf("unreleased %.12s, modified", revision)
	}
	return fmt.Sprintf("unreleased %.12s", revision)
}
