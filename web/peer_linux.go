package web

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

var errNoPeer = errors.New("its socket is not in /proc/net/tcp")

// canCheckPeer: whether checkPeer can tell anything on this platform.
const canCheckPeer = true

// checkPeer looks up who owns the client's socket. An orphaned socket (its
// process has closed it) shows uid 0: it passes only if we are root ourselves.
func checkPeer(c net.Conn) error {
	uid, err := peerUID(c)
	if err != nil {
		return err
	}
	if uid != os.Getuid() {
		return fmt.Errorf("it belongs to uid %d", uid)
	}
	return nil
}

// lookTries is how often the tables are read before a socket counts as not
// there: the kernel hands them out page by page, and entries move between pages
// while sockets come and go.
const lookTries = 3

func peerUID(c net.Conn) (uid int, err error) {
	for range lookTries {
		if uid, err = lookUp(c); !errors.Is(err, errNoPeer) {
			break
		}
	}
	return uid, err
}

func lookUp(c net.Conn) (int, error) {
	client, server := endpoint(c.RemoteAddr()), endpoint(c.LocalAddr())
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if errors.Is(err, os.ErrNotExist) {
			continue // no IPv6
		}
		if err != nil {
			return 0, err
		}
		uid, err := findSocket(f, client, server)
		f.Close()
		if !errors.Is(err, errNoPeer) {
			return uid, err
		}
	}
	return 0, errNoPeer
}

// endpoint writes an address as the kernel does: the IPv4 address in machine
// order, here little-endian, then the port, in hex.
func endpoint(a net.Addr) string {
	ap := netip.MustParseAddrPort(a.String())
	ip := ap.Addr().Unmap().As4()
	slices.Reverse(ip[:])
	return fmt.Sprintf("%s:%04X", strings.ToUpper(hex.EncodeToString(ip[:])), ap.Port())
}

// findSocket reads a table of proc(5). Fields: 1 local address, 2 remote
// address, 7 uid. In tcp6 an IPv4 address stands at the end of a mapped one, so
// a suffix is compared.
func findSocket(table io.Reader, local, remote string) (uid int, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		if len(field) > 7 && strings.HasSuffix(field[1], local) && strings.HasSuffix(field[2], remote) {
			return strconv.Atoi(field[7])
		}
	}
	return 0, errors.Join(lines.Err(), errNoPeer)
}
