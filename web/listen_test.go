package web

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// bareServer does not listen yet.
func bareServer(t *testing.T) *Server {
	t.Helper()
	st, err := store.Open(store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	a, err := agent.New(agent.Config{Store: st, ByHand: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Agent: a, Store: st, DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPortIsKept(t *testing.T) {
	s := bareServer(t)
	first, err := s.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	port := first.Addr().(*net.TCPAddr).Port
	if port < firstPort || port > lastPort {
		t.Errorf("got port %d", port)
	}
	first.Close()
	again, err := s.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := again.Addr().(*net.TCPAddr).Port; got != port || s.Notice() != "" {
		t.Errorf("got port %d and notice %q, want %d again", got, s.Notice(), port)
	}
}

// TestTakenPortLocksDashboards: who has the port now may be sent their cookies.
func TestTakenPortLocksDashboards(t *testing.T) {
	s := bareServer(t)
	squatter, err := net.Listen("tcp4", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer squatter.Close()
	taken := squatter.Addr().(*net.TCPAddr).Port
	if err := s.store.SetSetting(settingPort, taken); err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.sessions.enter(s.sessions.newCode(), "")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := s.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var kept int
	if _, err := s.store.Setting(settingPort, &kept); err != nil || kept == taken || !strings.HasSuffix(s.address, strconv.Itoa(kept)) {
		t.Errorf("kept port %d, %v, address %s", kept, err, s.address)
	}
	if s.sessions.valid(secret) {
		t.Error("a session of the old address is open")
	}
	if !strings.Contains(s.Notice(), strconv.Itoa(taken)) {
		t.Errorf("got notice %q, want it to name port %d", s.Notice(), taken)
	}
	again, err := loadSessions(s.store, time.Now)
	if err != nil || again.valid(secret) {
		t.Errorf("a session of the old address is open after a restart: %v", err)
	}
}

func TestListenOnlyOnLoopback(t *testing.T) {
	s := bareServer(t)
	for _, at := range []string{"0.0.0.0:8080", ":8080", "localhost:8080", "[::1]:8080", "192.168.1.2:8080", "8080", "127.0.0.1", "127.0.0.2:8080"} {
		if ln, err := s.Listen(at); err == nil {
			ln.Close()
			t.Errorf("listens on %s", at)
		}
	}
}
