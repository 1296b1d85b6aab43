//go:build windows || (darwin && cgo) || (linux && tray)

package tray

import (
	"runtime"

	"github.com/hourhand/hourhand/static"
)

// icons are in the form that this system's tray wants. They are kept for ever:
// on Linux systray hands the bytes to GTK, which reads them after SetIcon returned.
var icons = map[string][]byte{}

func init() {
	for _, name := range []string{"idle", "running", "paused", "look", "failed"} {
		png, ico := static.TrayIcon(name)
		icons[name] = png
		if runtime.GOOS == "windows" {
			icons[name] = ico
		}
	}
}
