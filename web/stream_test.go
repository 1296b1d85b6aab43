package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// source yields statuses that a test sends, the latest always.
type source struct {
	mu    sync.Mutex
	now   agent.Status
	newer chan struct{}
}

func newSource() *source { return &source{newer: make(chan struct{})} }

func (s *source) set(st agent.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = st
	close(s.newer)
	s.newer = make(chan struct{})
}

func (s *source) watch(ctx context.Context) iter.Seq[agent.Status] {
	return func(yield func(agent.Status) bool) {
		for ctx.Err() == nil {
			s.mu.Lock()
			now, newer := s.now, s.newer
			s.mu.Unlock()
			if !yield(now) {
				return
			}
			select {
			case <-newer:
			case <-ctx.Done():
			}
		}
	}
}

func numbered(n int) agent.Status {
	return agent.Status{Version: fmt.Sprint(n), Now: at14}
}

// one is a view of one part that tells the status' number, and counts.
func one(rendered *int) func(string, agent.Status) ([]part, error) {
	return func(view string, s agent.Status) ([]part, error) {
		*rendered++
		if view == "none" {
			return nil, store.ErrNotFound
		}
		return []part{{target: "n", html: []byte(s.Version)}}, nil
	}
}

func TestHubRendersOncePerTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, rendered := newSource(), 0
		src.set(numbered(0))
		h := newHub(src.watch, one(&rendered), time.Now)
		a, _ := h.enter("v")
		b, _ := h.enter("v")
		if a != b {
			t.Error("two readers of one view have two rooms")
		}
		<-a.first
		for n := range 100 { // 100 statuses in a second
			src.set(numbered(n + 1))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(2 * tick)
		if got := string(h.latest(a).since(0)); !strings.Contains(got, ">100<") {
			t.Errorf("got %s, want the last status", got)
		}
		if rendered > 8 {
			t.Errorf("rendered %d times in a second, want about 5", rendered)
		}
		h.leave("v", a)
		h.leave("v", b)
		synctest.Wait()
		before := rendered
		src.set(numbered(1000))
		time.Sleep(time.Minute)
		if rendered != before {
			t.Error("rendered without a reader")
		}
	})
}

// TestTimeGoesOn: a snapshot is as old as the last change, a page must not be.
func TestTimeGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource()
		src.set(agent.Status{Now: time.Now()})
		time.Sleep(time.Hour)
		h := newHub(src.watch, func(_ string, s agent.Status) ([]part, error) {
			return []part{{target: "clock", html: s.Now.AppendFormat(nil, time.TimeOnly)}}, nil
		}, time.Now)
		r, _ := h.enter("v")
		<-r.first
		seen := h.latest(r)
		if want := time.Now().Format(time.TimeOnly); !strings.Contains(string(seen.since(0)), want) {
			t.Errorf("got %s, want %s", seen.since(0), want)
		}
		time.Sleep(breath + tick)
		if h.latest(r) == seen {
			t.Error("the page does not age")
		}
		h.leave("v", r)
	})
}

// TestSlowReaderMissesNothing: who comes back late gets the state, not the steps.
func TestSlowReaderMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSource()
		src.set(numbered(0))
		h := newHub(src.watch, func(_ string, s agent.Status) ([]part, error) {
			return []part{{target: "still", html: []byte("x")}, {target: "moves", html: []byte(s.Version)}}, nil
		}, time.Now)
		r, _ := h.enter("v")
		<-r.first
		seen := h.latest(r).seq
		for n := range 5 {
			src.set(numbered(n + 1))
			time.Sleep(time.Second)
		}
		got := string(h.latest(r).since(seen))
		if !strings.Contains(got, `"#moves"`) || !strings.Contains(got, ">5<") || strings.Contains(got, "still") {
			t.Errorf("got %s, want the part that moved, in its last state", got)
		}
		h.leave("v", r)
	})
}

func TestPartsRest(t *testing.T) {
	p := func(html string) []part { return []part{{target: "spark", html: []byte(html), rest: time.Second}} }
	first := follow(nil, p("1"), at14)
	if next := follow(first, p("2"), at14.Add(900*time.Millisecond)); next != nil {
		t.Errorf("renewed within its rest: %s", next.since(first.seq))
	}
	if next := follow(first, p("2"), at14.Add(time.Second)); next == nil {
		t.Error("not renewed after its rest")
	}
	keyed := func(key, html string) []part { return []part{{target: "cards", key: key, html: []byte(html)}} }
	first = follow(nil, keyed("a", "1"), at14)
	if follow(first, keyed("a", "2"), at14) != nil || follow(first, keyed("b", "1"), at14) == nil {
		t.Error("a part with a key must be renewed by its key alone")
	}
}

func TestUnknownViewIsRefused(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	for _, view := range []string{"", "nothing", "job/none", "hour/photos/99", "hour/photos", "run/none"} {
		if res := at.ask(t, ask{path: "/live?view=" + view}); res.StatusCode != http.StatusNotFound {
			t.Errorf("%q: got %d, want 404", view, res.StatusCode)
		}
	}
}

// TestFirstFrameIsEverything: after sleep or a restart no replay is needed.
func TestFirstFrameIsEverything(t *testing.T) {
	at := newSite(t, show(literalStates()["running"]))
	withHistory(t, at.store, literalStates()["running"])
	for view, want := range map[string][]string{
		"overview":       {"#page-title", "#answer", "#notices", "#cards", "#ring-photos", "#live-photos", "#spark-photos", "#strip-docs", "#week", "#bar", "#say"},
		"job/photos":     {"#page-title", "#cards", "#ring-photos", "#hours", "#runs", "#week"},
		"hour/photos/03": {"#page-title", "#hour"},
		"page":           {"#bar"},
	} {
		res := at.ask(t, ask{path: "/live?view=" + view})
		if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("%s: got %s", view, got)
		}
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		var frame strings.Builder
		for lines.Scan() && lines.Text() != "" {
			frame.WriteString(lines.Text() + "\n")
		}
		if !strings.HasPrefix(frame.String(), "retry: 2000\n") {
			t.Errorf("%s: the first frame does not say when to come again", view)
		}
		for _, target := range want {
			if !strings.Contains(frame.String(), `hx-target="`+target+`"`) {
				t.Errorf("%s: no %s in the first frame", view, target)
			}
		}
	}
}

func TestAtMost32Streams(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	var open []*http.Response
	for i := range maxStreams {
		res := at.ask(t, ask{path: "/live?view=overview"})
		if res.StatusCode != 200 {
			t.Fatalf("stream %d: got %d", i+1, res.StatusCode)
		}
		open = append(open, res)
	}
	res := at.ask(t, ask{path: "/live?view=overview"})
	if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Errorf("33rd stream: got %d, Retry-After %q, want 503", res.StatusCode, res.Header.Get("Retry-After"))
	}
	open[0].Body.Close()
	at.hub.settle(t, maxStreams-1)
	if res := at.ask(t, ask{path: "/live?view=overview"}); res.StatusCode != 200 {
		t.Errorf("after one was closed: got %d, want 200", res.StatusCode)
	}
}

// settle waits until there are so many readers.
func (h *hub) settle(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		h.mu.Lock()
		n := h.readers
		h.mu.Unlock()
		if n == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got %d readers, want %d", n, want)
		}
	}
}

// TestQuickConnectsLeaveNothing: a hundred streams come and go.
func TestQuickConnectsLeaveNothing(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	for range 100 {
		at.ask(t, ask{path: "/live?view=overview"}).Body.Close()
	}
	at.hub.settle(t, 0)
	if len(at.hub.rooms) != 0 {
		t.Errorf("%d rooms are left", len(at.hub.rooms))
	}
}

// TestStuckReaderIsDropped: one who does not read costs the others nothing and
// is thrown out.
func TestStuckReaderIsDropped(t *testing.T) {
	t.Parallel()
	src := newSource()
	src.set(numbered(0))
	at := newSite(t, func(s *Server) {
		s.hub.watch = src.watch
		s.hub.render = func(_ string, st agent.Status) ([]part, error) {
			return []part{{target: "n", html: append(bytes.Repeat([]byte("x"), 4<<20), st.Version...)}}, nil
		}
	})
	c, err := net.Dial("tcp4", at.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /live?view=big HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", at.address, at.cookie)
	at.hub.settle(t, 1)
	began := time.Now()
	at.hub.settle(t, 0)
	if d := time.Since(began); d > 6*time.Second {
		t.Errorf("dropped after %v, want about %v", d, readerTime)
	}
}

// TestShutdownEndsStreams at once, and agent.json goes.
func TestShutdownEndsStreams(t *testing.T) {
	st, err := store.Open(store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	a, err := agent.New(agent.Config{Store: st, ByHand: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := New(Config{Agent: a, Store: st, DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := s.Listen(loopback + ":0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	secret, _, err := s.sessions.enter(s.sessions.newCode(), "")
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, "http://"+s.address+"/live?view=overview", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: s.cookieName(), Value: secret})
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	began := time.Now()
	stop()
	if _, err := io.Copy(io.Discard, res.Body); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ended with %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("stopping took %v", d)
	}
	if _, err := Dial(dir); !errors.Is(err, ErrNoAgent) {
		t.Errorf("Dial after the end: got %v, want ErrNoAgent", err)
	}
}

func FuzzMessage(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, data string) {
		got := message(streamRetry, []byte(data))
		if !bytes.HasPrefix(got, []byte(streamRetry)) || !bytes.HasSuffix(got, []byte("\n\n")) {
			t.Fatalf("not one message: %q", got)
		}
		if bytes.ContainsRune(got, '\r') {
			t.Fatalf("a CR is left: %q", got)
		}
		for line := range bytes.Lines(bytes.TrimSuffix(got[len(streamRetry):], []byte("\n"))) {
			if !bytes.HasPrefix(line, []byte("data: ")) {
				t.Fatalf("%q begins a field of its own", line)
			}
		}
	})
}
