package web

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// loopback is the only address that is served and shown; never "localhost",
// which may mean ::1 first.
const loopback = "127.0.0.1"

// The port is picked once between these bounds and kept: below the ports that
// systems give to outgoing connections (32768 on Linux, 49152 elsewhere), so
// that none of those takes it.
const (
	firstPort = 20000
	lastPort  = 29999
)

const settingPort = "web.port"

// Listen opens the address. at is "127.0.0.1:PORT", or "" for the remembered
// port, which is picked at random at the first start. If that one is taken, a
// new one is picked, every open dashboard is locked (whoever took the old port
// may be sent its cookies), and Notice says so.
func (s *Server) Listen(at string) (net.Listener, error) {
	ln, err := s.listen(at)
	if err != nil {
		return nil, err
	}
	s.address = ln.Addr().String()
	return ln, nil
}

func (s *Server) listen(at string) (net.Listener, error) {
	if at != "" {
		return listenFixed(at)
	}
	var port int
	if _, err := s.store.Setting(settingPort, &port); err != nil {
		return nil, fmt.Errorf("read the dashboard's port: %w", err)
	}
	if port == 0 {
		return s.listenAnywhere()
	}
	ln, taken := listenPort(port)
	if taken == nil {
		return ln, nil
	}
	ln, err := s.listenAnywhere()
	if err != nil {
		return nil, errors.Join(taken, err)
	}
	s.notice = fmt.Sprintf("The dashboard's address is new: %s. Another program uses port %d. Open it from the tray icon or run hourhand open.", ln.Addr(), port)
	s.log.Warn("dashboard address changed", "address", ln.Addr(), "taken", port)
	return ln, s.sessions.revokeAll()
}

func listenFixed(at string) (net.Listener, error) {
	addr, err := netip.ParseAddrPort(at)
	if err != nil || addr.Addr() != netip.MustParseAddr(loopback) {
		return nil, fmt.Errorf("the dashboard is served on %s:PORT only, not on %q", loopback, at)
	}
	return listenPort(int(addr.Port()))
}

// listenAnywhere tries random ports; 50 taken ones in a row mean that something
// else is wrong.
func (s *Server) listenAnywhere() (net.Listener, error) {
	var last error
	for range 50 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		ln, err := listenPort(port)
		if err == nil {
			return ln, s.store.SetSetting(settingPort, port)
		}
		last = err
	}
	return nil, fmt.Errorf("find a free port for the dashboard: %w", last)
}

func listenPort(port int) (net.Listener, error) {
	config := net.ListenConfig{Control: exclusive}
	ln, err := config.Listen(context.Background(), "tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	if err := reachesUs(ln.(*net.TCPListener)); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// reachesUs makes sure that our address leads to us and not to another program
// that holds the same port: an empty connection to it must arrive here.
func reachesUs(ln *net.TCPListener) error {
	c, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	if err := ln.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	for {
		got, err := ln.Accept()
		if err != nil {
			return fmt.Errorf("another program answers at %s: %w", ln.Addr(), err)
		}
		got.Close()
		if got.RemoteAddr().String() == c.LocalAddr().String() {
			return ln.SetDeadline(time.Time{})
		}
	}
}
