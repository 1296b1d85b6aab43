package web

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/static"
)

// contentPolicy lets a page load only what we serve, run only our scripts, send
// forms only to us, and be framed by nobody.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const (
	maxBody     = 64 << 10         // of a POST; the largest honest one is a job with its excludes
	bodyTime    = 10 * time.Second // for a POST's body to arrive
	answerTime  = 30 * time.Second // for an answer to be taken by its reader
	sessionName = "hourhand_"      // and the port, since cookies ignore ports
)

// anotherSite is the refusal of what our own pages did not ask for.
const anotherSite = "Another site sent this request, so nothing was done. If it was you: go back to the overview and press the button there."

// refusal is an answer of the guard in place of the handler's.
type refusal struct {
	status int
	text   string
}

// guard stands before the router, so that no route can be forgotten: whatever
// is asked must come from this user's browser, on our own page, with an open
// session. The order matters: what needs no secret is checked before what does.
// The connection's user was checked before (see admit).
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		answerWithin(w, answerTime)
		api := strings.HasPrefix(r.URL.Path, "/api/v1/")
		for _, check := range []func(*http.Request, bool) *refusal{s.checkHost, s.checkOrigin, checkFetchSite, checkMethod, checkPath, checkForm} {
			if no := check(r, api); no != nil {
				s.refuse(w, r, *no)
				return
			}
		}
		if no := readBody(w, r, api); no != nil {
			s.refuse(w, r, *no)
			return
		}
		if !s.entitled(r, api) {
			s.askToOpen(w, r, api)
			return
		}
		if err := s.crossOrigin.Check(r); err != nil {
			s.refuse(w, r, refusal{http.StatusForbidden, err.Error()})
			return
		}
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// Not no-referrer: under it browsers send "Origin: null" with our own forms.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// answerWithin drops a reader who does not take his answer in time. Servers
// have one write timeout for all; ours differ, so each answer sets its own.
func answerWithin(w http.ResponseWriter, d time.Duration) {
	// A writer without deadlines is a test's recorder.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
}

// checkHost stops DNS rebinding: a foreign page whose name resolves to
// 127.0.0.1 still says its own name. net/http refuses requests with two Hosts.
func (s *Server) checkHost(r *http.Request, _ bool) *refusal {
	absolute := r.Method != http.MethodConnect && !strings.HasPrefix(r.RequestURI, "/") && r.RequestURI != "*"
	switch {
	case r.Host == "":
		return &refusal{http.StatusBadRequest, "The request names no host."}
	case r.Host != s.address || absolute:
		return &refusal{http.StatusMisdirectedRequest, "This is not the address of the dashboard. Open it from the tray icon or run hourhand open."}
	}
	return nil
}

func (s *Server) checkOrigin(r *http.Request, _ bool) *refusal {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+s.address {
			return &refusal{http.StatusForbidden, anotherSite}
		}
	}
	return nil
}

// checkFetchSite lets only our own pages and the user (address bar, bookmark)
// ask. Other loopback ports are "same-site": they are foreign too. A link on a
// foreign page may lead to the overview, since it shows and changes nothing there.
func checkFetchSite(r *http.Request, api bool) *refusal {
	site := r.Header.Values("Sec-Fetch-Site")
	own := !slices.ContainsFunc(site, func(v string) bool { return v != "same-origin" && v != "none" })
	if api || own || isLinkToEntry(r) {
		return nil
	}
	return &refusal{http.StatusForbidden, anotherSite}
}

func isLinkToEntry(r *http.Request) bool {
	return r.Method == http.MethodGet &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" &&
		(r.URL.Path == "/" || r.URL.Path == "/open")
}

func checkMethod(r *http.Request, _ bool) *refusal {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return nil
	}
	return &refusal{http.StatusMethodNotAllowed, "This method is not used here."}
}

// checkPath refuses paths with needless escapes, which the router would read in
// another way than this guard does. No address of ours has any.
func checkPath(r *http.Request, _ bool) *refusal {
	if r.URL.RawPath == "" {
		return nil
	}
	return &refusal{http.StatusBadRequest, "This address is written in an unusual way."}
}

// checkForm wants a POST to be what a browser's form sends: with a header that
// tells where it comes from, and of the type that no foreign script can vary.
func checkForm(r *http.Request, api bool) *refusal {
	if r.Method != http.MethodPost || api {
		return nil
	}
	if r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		return &refusal{http.StatusForbidden, "The request does not tell which page sent it."}
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != "application/x-www-form-urlencoded" {
		return &refusal{http.StatusUnsupportedMediaType, "Only forms are taken here."}
	}
	return nil
}

// readBody takes a POST's body within its bounds of size and time, so that
// handlers find it complete: a form is parsed, the API's JSON is in memory.
func readBody(w http.ResponseWriter, r *http.Request, api bool) *refusal {
	if r.Method != http.MethodPost {
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // fails on a test's recorder only
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = control.SetReadDeadline(time.Time{})
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &refusal{http.StatusRequestEntityTooLarge, "The form is too large."}
	}
	if err != nil {
		return &refusal{http.StatusBadRequest, "The request ended early."}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if api {
		return nil
	}
	if r.PostForm, err = url.ParseQuery(string(body)); err != nil {
		return &refusal{http.StatusBadRequest, "The form cannot be read."}
	}
	return nil
}

// entitled is default deny: only style sheets, scripts and the entry itself need
// no session, and the API has its own token.
func (s *Server) entitled(r *http.Request, api bool) bool {
	if api {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		return ok && subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
	}
	if strings.HasPrefix(r.URL.Path, "/static/") || r.URL.Path == "/open" {
		return true
	}
	// Pages on other ports of 127.0.0.1 can set a cookie of our name beside ours.
	return slices.ContainsFunc(r.CookiesNamed(s.cookieName()), func(c *http.Cookie) bool {
		return s.sessions.valid(c.Value)
	})
}

func (s *Server) cookieName() string {
	_, port, _ := strings.Cut(s.address, ":")
	return sessionName + port
}

func (s *Server) askToOpen(w http.ResponseWriter, r *http.Request, api bool) {
	s.log.Debug("request without a session", "method", r.Method, "path", r.URL.Path)
	if api {
		sendJSON(w, http.StatusUnauthorized, wireError{Code: "locked", Text: "the token is not that of this agent"})
		return
	}
	s.locked(w, r)
}

// refuse says no: to a person at our address by a page with a way back, which
// shows nothing that needs a session; to anybody else by a line of text.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, no refusal) {
	s.log.Debug("request refused", "status", no.status, "method", r.Method, "path", r.URL.Path)
	if strings.HasPrefix(r.URL.Path, "/api/v1/") || r.Host != s.address {
		http.Error(w, no.text, no.status)
		return
	}
	s.page(w, no.status, "message", messageView{chrome{Title: "Refused – Hourhand", Theme: s.look().Theme, Icon: static.URL("icons/idle.svg")}, no.text})
}
