//go:build windows || (darwin && cgo)

package tray

// Available tells whether a tray icon can be seen here, and why not. The systems
// of this build always have a tray.
func Available() (ok bool, reason string) { return true, "" }

// prepare has nothing to do here.
func prepare() error { return nil }
