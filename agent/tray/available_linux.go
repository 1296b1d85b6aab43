//go:build linux && tray

package tray

/*
#cgo pkg-config: gtk+-3.0
#include <gtk/gtk.h>

static int hourhand_gtk_starts(void) { return gtk_init_check(NULL, NULL); }
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/godbus/dbus/v5"
)

// watcher is the desktop's tray: StatusNotifierItem, as KDE named it and all use it.
const watcher = "org.kde.StatusNotifierWatcher"

// Available tells whether a tray icon can be seen here, and why not.
func Available() (ok bool, reason string) {
	if !hasDisplay() {
		return false, "there is no display"
	}
	if !hasBus() {
		return false, "there is no session bus"
	}
	if !hasWatcher() {
		return false, "this desktop has no tray (no " + watcher + " on the session bus)"
	}
	return true, ""
}

// prepare tells where there never will be a tray: systray's own start of GTK ends
// the process if the display cannot be opened.
func prepare() error {
	switch {
	case !hasDisplay():
		return fmt.Errorf("%w: there is no display", ErrNone)
	case !hasBus():
		return fmt.Errorf("%w: there is no session bus", ErrNone)
	case C.hourhand_gtk_starts() == 0:
		return fmt.Errorf("%w: the display cannot be opened", ErrNone)
	}
	return nil
}

func hasDisplay() bool {
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// hasBus tells whether the session bus has an address: without one godbus would
// start a bus of its own, on which nobody is.
func hasBus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return dir != "" && err == nil
}

// hasWatcher asks the bus, for a moment.
func hasWatcher() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	bus, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return false
	}
	defer bus.Close()
	var has bool
	err = bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcher).Store(&has)
	return err == nil && has
}
