package web

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// site is a server at work, with an open session.
type site struct {
	*Server
	cookie *http.Cookie
	http   http.Client
}

// newSite starts a server on a real store and a real agent in temporary folders.
// edit may put literal statuses in place of the agent's before it serves.
func newSite(t testing.TB, edit func(*Server)) *site {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(agent.Config{Store: st, Scratch: dir, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Agent: a, Store: st, DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(s)
	}
	ln, err := s.Listen(loopback + ":0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(ctx, ln) }()
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Errorf("server or agent ended with %v", err)
			}
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	at := &site{Server: s, http: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	secret, ok, err := s.sessions.enter(s.sessions.newCode(), "test")
	if err != nil || !ok {
		t.Fatalf("enter: %v, %v", ok, err)
	}
	at.cookie = &http.Cookie{Name: s.cookieName(), Value: secret}
	return at
}

// literal makes a server show statuses that a test sets.
type literal struct{ now atomic.Pointer[agent.Status] }

func (l *literal) set(st agent.Status) { l.now.Store(&st) }

// show is for newSite.
func show(st agent.Status) func(*Server) {
	var l literal
	l.set(st)
	return l.into
}

func (l *literal) into(s *Server) {
	s.status = func() agent.Status { return *l.now.Load() }
	s.hub.now = func() time.Time { return l.now.Load().Now }
	s.hub.watch = func(ctx context.Context) iter.Seq[agent.Status] {
		return func(yield func(agent.Status) bool) {
			if yield(*l.now.Load()) {
				<-ctx.Done()
			}
		}
	}
}

// get asks for a page with the session and returns status and body.
func (at *site) get(t testing.TB, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+at.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res := at.do(t, req)
	return res.StatusCode, body(t, res)
}

// post sends a form as our own page does.
func (at *site) post(t testing.TB, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+at.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Origin", "http://"+at.address)
	res := at.do(t, req)
	return res, body(t, res)
}

func (at *site) do(t testing.TB, req *http.Request) *http.Response {
	t.Helper()
	req.AddCookie(at.cookie)
	res, err := at.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func body(t testing.TB, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// at14 is the moment of the literal statuses.
var at14 = time.Date(2026, 11, 30, 13, 52, 0, 0, time.UTC)
