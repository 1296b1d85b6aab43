//go:build !(windows || (darwin && cgo) || (linux && tray))

package tray

import (
	"context"
	"fmt"
)

// Available tells whether a tray icon can be seen here, and why not.
func Available() (ok bool, reason string) {
	return false, "this build has none (build it with -tags tray)"
}

// Run shows the icon until ctx ends; here there is none: ErrNone.
func Run(context.Context, Config) error {
	_, reason := Available()
	return fmt.Errorf("%w: %s", ErrNone, reason)
}
