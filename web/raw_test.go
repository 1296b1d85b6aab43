package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// rawAsk sends bytes as they are, which no client library would.
func (at *site) rawAsk(t *testing.T, text string) (status int, c net.Conn) {
	t.Helper()
	c, err := net.Dial("tcp4", at.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	text = strings.NewReplacer("SELF", at.address, "COOKIE", at.cookie.String(), "\n", "\r\n").Replace(text)
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", text[:min(len(text), 60)], err)
	}
	defer res.Body.Close()
	return res.StatusCode, c
}

func TestRawRequests(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"honest", "GET / HTTP/1.1\nHost: SELF\nCookie: COOKIE\n\n", 200},
		{"Host missing", "GET / HTTP/1.1\nCookie: COOKIE\n\n", 400},
		{"Host missing, HTTP/1.0", "GET / HTTP/1.0\nCookie: COOKIE\n\n", 400},
		{"Host empty", "GET / HTTP/1.1\nHost:\nCookie: COOKIE\n\n", 400},
		{"Host twice", "GET / HTTP/1.1\nHost: SELF\nHost: evil.example\nCookie: COOKIE\n\n", 400},
		{"absolute form, foreign", "GET http://evil/ HTTP/1.1\nHost: SELF\nCookie: COOKIE\n\n", 421},
		{"absolute form, ours with a foreign Host", "GET http://SELF/ HTTP/1.1\nHost: evil.example\nCookie: COOKIE\n\n", 421},
		{"CONNECT", "CONNECT SELF HTTP/1.1\nHost: SELF\nCookie: COOKIE\n\n", 405},
		{"CONNECT elsewhere", "CONNECT evil.example:443 HTTP/1.1\nHost: evil.example:443\n\n", 421},
		{"TRACE", "TRACE / HTTP/1.1\nHost: SELF\nCookie: COOKIE\n\n", 405},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\nHost: SELF\nCookie: COOKIE\n\n", 405},
		{"big header", "GET / HTTP/1.1\nHost: SELF\nX: " + strings.Repeat("x", 33<<10) + "\n\n", 431},
		{"large header", "GET / HTTP/1.1\nHost: SELF\nCookie: COOKIE\nX: " + strings.Repeat("x", 28<<10) + "\n\n", 200},
		{"length and chunks", "POST /pause HTTP/1.1\nHost: SELF\nContent-Length: 5\nTransfer-Encoding: chunked\n\n0\n\n", 403},
		{"no HTTP", "hello\n\n", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := at.rawAsk(t, c.text); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestHeadHasNoBody, also of the stream.
func TestHeadHasNoBody(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	for _, path := range []string{"/", "/live?view=overview", "/settings"} {
		res := at.ask(t, ask{method: http.MethodHead, path: path})
		if b := body(t, res); res.StatusCode != 200 || b != "" {
			t.Errorf("%s: got %d and %d bytes, want 200 and none", path, res.StatusCode, len(b))
		}
	}
}

// TestSlowHeaders: who sends a header byte by byte is cut off.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	at := newSite(t, show(literalStates()["idle"]))
	c, err := net.Dial("tcp4", at.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nX-Slow: ", at.address)
	if err := c.SetReadDeadline(began.Add(15 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, c); err != nil {
		t.Fatalf("not cut off: %d bytes, %v", n, err)
	}
	if d := time.Since(began); d < 4*time.Second || d > 8*time.Second {
		t.Errorf("cut off after %v, want about 5 s", d)
	}
}
