package main

import (
	"io"
	"os"
	"runtime"
	"time"

	"github.com/pkg/browser"
	"github.com/spf13/cobra"

	"github.com/hourhand/hourhand/web"
)

func (a *app) openCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "open",
		Short: "open the dashboard of the running agent; without a display print an address that opens it once",
		Args:  cobra.NoArgs,
	}
	jsonFlag(c, &asJSON)
	c.RunE = func(*cobra.Command, []string) error {
		dir, err := dataFolder(a.data)
		if err != nil {
			return err
		}
		client, err := web.Dial(dir)
		if err != nil {
			return err
		}
		url, err := client.OpenCode()
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.out, map[string]string{"url": url})
		}
		a.showDashboard(url)
		return nil
	}
	return c
}

// showDashboard opens an address in the browser, or prints it where there is
// none.
func (a *app) showDashboard(url string) {
	if hasDisplay() && openBrowser(url) {
		return
	}
	a.printf("open this within 30 seconds, in a browser of yours on this machine: %s", url)
}

// hasDisplay tells whether a browser window would be seen by the user: not in a
// remote shell, and on Unix not without a display server.
func hasDisplay() bool {
	if os.Getenv("SSH_CONNECTION") != "" {
		return false
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// browserWait is how long a browser may take to fail. Some openers stay until
// the window is closed: longer than that means that it is open.
const browserWait = 3 * time.Second

// openBrowser tells whether the browser took the address.
func openBrowser(url string) bool {
	browser.Stdout, browser.Stderr = io.Discard, io.Discard
	failed := make(chan error, 1)
	go func() { failed <- browser.OpenURL(url) }() // ends with the opener
	select {
	case err := <-failed:
		return err == nil
	case <-time.After(browserWait):
		return true
	}
}
