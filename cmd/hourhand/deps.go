//go:build deps

package main

import (
	_ "github.com/chromedp/chromedp"
	_ "github.com/dustin/go-humanize"
	_ "github.com/getlantern/systray"
	_ "github.com/go-chi/chi/v5"
	_ "github.com/godbus/dbus/v5"
	_ "github.com/gofrs/flock"
	_ "github.com/pkg/browser"
	_ "github.com/pkg/xattr"
	_ "github.com/robfig/cron/v3"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "github.com/zeebo/xxh3"
	_ "go.etcd.io/bbolt"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/text/cases"
	_ "golang.org/x/time/rate"
	_ "gopkg.in/natefinch/lumberjack.v2"
)
