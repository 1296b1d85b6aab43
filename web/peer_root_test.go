//go:build linux && root

package web

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestOtherUserIsClosed connects as nobody, with a stolen cookie.
func TestOtherUserIsClosed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("the tag root asks for root")
	}
	at := newSite(t, show(literalStates()["idle"]))
	answer := func(uid int) string {
		c := dialAs(t, uid, at.address)
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nConnection: close\r\n\r\n", at.address, at.cookie)
		got, err := io.ReadAll(c)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		return string(got)
	}
	if got := answer(0); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("ours: got %.60q, want 200", got)
	}
	if got := answer(65534); got != "" {
		t.Errorf("nobody's: got %.60q, want nothing", got)
	}
	if err := at.store.SetSetting(settingAnyUser, true); err != nil {
		t.Fatal(err)
	}
	if got := answer(65534); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("nobody's, when allowed: got %.60q, want 200", got)
	}
}

// dialAs opens a socket that belongs to another user: the kernel takes the file
// system uid of the thread that makes it.
func dialAs(t *testing.T, uid int, address string) net.Conn {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, err := unix.SetfsuidRetUid(uid); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp4", address)
	if _, back := unix.SetfsuidRetUid(0); back != nil || err != nil {
		t.Fatal(err, back)
	}
	return c
}
