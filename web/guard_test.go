package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/agent"
)

// ask is one request of an attacker. Its zero value is an honest GET of the
// overview with a session.
type ask struct {
	method  string
	path    string
	host    string
	headers map[string]string
	body    string
	stolen  string // in place of the session's cookie; "none": no cookie at all
}

func (at *site) ask(t *testing.T, a ask) *http.Response {
	t.Helper()
	if a.method == "" {
		a.method = http.MethodGet
	}
	if a.path == "" {
		a.path = "/"
	}
	req, err := http.NewRequest(a.method, "http://"+at.address+a.path, strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = strings.ReplaceAll(a.host, "PORT", at.port())
	for name, value := range a.headers {
		req.Header.Set(name, strings.ReplaceAll(value, "SELF", at.address))
	}
	switch a.stolen {
	case "":
		req.AddCookie(at.cookie)
	case "none":
	default:
		req.AddCookie(&http.Cookie{Name: at.cookie.Name, Value: a.stolen})
	}
	res, err := at.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func (at *site) port() string { return at.address[strings.LastIndex(at.address, ":")+1:] }

type headers = map[string]string

const formType = "application/x-www-form-urlencoded"

// form is an honest POST with the given header changes.
func form(path string, more headers) ask {
	a := ask{method: http.MethodPost, path: path, headers: headers{"Content-Type": formType, "Origin": "http://SELF", "Sec-Fetch-Site": "same-origin"}}
	for name, value := range more {
		a.headers[name] = value
	}
	return a
}

// TestAttacks is the attack table of the dashboard: who asks for what, and what
// he gets.
func TestAttacks(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	crossSite := headers{"Sec-Fetch-Site": "cross-site"}
	for _, c := range []struct {
		name string
		ask  ask
		want int
	}{
		{"honest page", ask{}, 200},
		{"honest HEAD", ask{method: http.MethodHead}, 200},
		{"no cookie", ask{stolen: "none"}, 401},
		{"wrong cookie", ask{stolen: "AAAA"}, 401},
		{"no cookie on an address that is not there", ask{path: "/nowhere", stolen: "none"}, 401},
		{"no such address", ask{path: "/nowhere"}, 404},
		{"locked page", ask{path: "/locked"}, 401},

		{"rebinding, page", ask{host: "evil.example:PORT"}, 421},
		{"rebinding, stream", ask{path: "/live?view=overview", host: "evil.example:PORT"}, 421},
		{"rebinding, entry", ask{path: "/open?code=x", host: "evil.example:PORT", stolen: "none"}, 421},
		{"rebinding, static file", ask{path: "/static/app.css", host: "evil.example:PORT"}, 421},
		{"0.0.0.0", ask{host: "0.0.0.0:PORT"}, 421},
		{"without port", ask{host: "127.0.0.1"}, 421},
		{"other port", ask{host: "127.0.0.1:1"}, 421},
		{"localhost", ask{host: "localhost:PORT"}, 421},
		{"localhost with a dot", ask{host: "localhost.:PORT"}, 421},
		{"number for the address", ask{host: "2130706433:PORT"}, 421},

		{"POST cross-site", form("/pause", crossSite), 403},
		{"POST from another local port", form("/pause", headers{"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"}), 403},
		{"POST same-site without Origin", form("/pause", headers{"Sec-Fetch-Site": "same-site", "Origin": ""}), 403},
		{"POST from a sandboxed frame", form("/pause", headers{"Origin": "null"}), 403},
		{"POST from evil, old browser", form("/pause", headers{"Origin": "http://evil.example", "Sec-Fetch-Site": ""}), 403},
		{"POST with our host and https", form("/pause", headers{"Origin": "https://SELF"}), 403},
		{"POST with neither header", form("/pause", headers{"Origin": "", "Sec-Fetch-Site": ""}), 403},
		{"POST text/plain", form("/pause", headers{"Content-Type": "text/plain"}), 415},
		{"POST json", form("/pause", headers{"Content-Type": "application/json"}), 415},
		{"POST without type", form("/pause", headers{"Content-Type": ""}), 415},
		{"POST without cookie", func() ask { a := form("/pause", nil); a.stolen = "none"; return a }(), 401},
		{"POST too large", func() ask { a := form("/pause", nil); a.body = strings.Repeat("x", maxBody+1); return a }(), 413},
		{"POST as large as may be", func() ask { a := form("/pause", nil); a.body = strings.Repeat("x", maxBody); return a }(), 422},
		{"POST that is no form", func() ask { a := form("/pause", nil); a.body = "%zz"; return a }(), 400},

		{"GET of an action", ask{path: "/pause"}, 405},
		{"GET of an action, method in the query", ask{path: "/pause?_method=POST"}, 405},
		{"GET of an action, method in a header", ask{path: "/pause", headers: headers{"X-HTTP-Method-Override": "POST"}}, 405},
		{"PUT", ask{method: http.MethodPut, path: "/pause"}, 405},
		{"DELETE", ask{method: http.MethodDelete, path: "/jobs/photos"}, 405},
		{"TRACE", ask{method: http.MethodTrace}, 405},
		{"OPTIONS", ask{method: http.MethodOptions}, 405},
		{"preflight from evil", ask{method: http.MethodOptions, path: "/pause", headers: headers{"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}}, 403},

		{"stream from evil", ask{path: "/live?view=overview", headers: headers{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}}, 403},
		{"stream from another local port", ask{path: "/live?view=overview", headers: headers{"Sec-Fetch-Site": "same-site"}}, 403},
		{"websocket from evil", ask{path: "/live?view=overview", headers: headers{"Origin": "http://evil.example", "Connection": "Upgrade", "Upgrade": "websocket"}}, 403},
		{"stream of nothing", ask{path: "/live?view=nothing"}, 404},

		{"image probe", ask{headers: headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}}, 403},
		{"script probe of a static file", ask{path: "/static/app.js", headers: headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}}, 403},
		{"frame", ask{headers: headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}}, 403},
		{"link in a mail", ask{headers: headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, 200},
		{"link in a mail, cookie held back", ask{stolen: "none", headers: headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, 401},
		{"link to a job", ask{path: "/jobs/photos", headers: headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, 403},
		{"navigation by POST", form("/", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}), 403},

		{"escapes in the path", ask{path: "/%6fpen?code=x", stolen: "none"}, 400},
		{"dots in a static path", ask{path: "/static/%2e%2e/%2e%2e/etc/passwd"}, 400},
		{"dots plain", ask{path: "/static/../../etc/passwd"}, 404},
		{"no hour", ask{path: "/jobs/photos/hours/24"}, 404},
		{"no hour, sign", ask{path: "/jobs/photos/hours/+1"}, 404},

		{"api with a cookie only", ask{path: "/api/v1/status"}, 401},
		{"api with a wrong token", ask{path: "/api/v1/status", headers: headers{"Authorization": "Bearer AAAA"}}, 401},
		{"api, foreign host", ask{path: "/api/v1/status", host: "evil.example:PORT", headers: headers{"Authorization": "Bearer " + at.token}}, 421},
		{"api, foreign origin", ask{path: "/api/v1/status", headers: headers{"Authorization": "Bearer " + at.token, "Origin": "http://evil.example"}}, 403},
		{"api, honest", ask{path: "/api/v1/status", stolen: "none", headers: headers{"Authorization": "Bearer " + at.token}}, 200},
		{"api, PUT", ask{method: http.MethodPut, path: "/api/v1/pause", headers: headers{"Authorization": "Bearer " + at.token}}, 405},
		{"page with a token only", ask{stolen: "none", headers: headers{"Authorization": "Bearer " + at.token}}, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := at.ask(t, c.ask)
			if res.StatusCode != c.want {
				t.Errorf("got %d, want %d: %s", res.StatusCode, c.want, body(t, res))
			}
			checkHeaders(t, res)
		})
	}
	if at.agent.Status().Pause.On {
		t.Error("one of the attacks has paused the agent")
	}
}

// TestRefusalsLeadBack: whoever is refused at our own address gets a page with a
// way back, and nothing of what a session would show.
func TestRefusalsLeadBack(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	for _, a := range []ask{form("/pause", headers{"Origin": "null"}), {path: "/pause"}, form("/pause", headers{"Content-Type": "text/plain"})} {
		html := body(t, at.ask(t, a))
		if !strings.Contains(html, `<a class="btn" href="/">Back to the overview</a>`) || !strings.HasSuffix(html, "</html>\n") {
			t.Errorf("%s %v leads nowhere: %s", a.method, a.headers, html)
		}
		if strings.Contains(html, "Photos") || strings.Contains(html, "/live") {
			t.Errorf("%s %v shows what is behind the session: %s", a.method, a.headers, html)
		}
	}
	if text := body(t, at.ask(t, ask{host: "evil.example:PORT"})); strings.Contains(text, "<") {
		t.Errorf("a foreign host gets a page: %s", text)
	}
}

// checkHeaders holds for every answer, also for refusals.
func checkHeaders(t *testing.T, res *http.Response) {
	t.Helper()
	wants := headers{
		"Content-Security-Policy":      contentPolicy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	}
	for name, want := range wants {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for name := range res.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("CORS header %s", name)
		}
	}
	if cache := res.Header.Get("Cache-Control"); !strings.HasPrefix(res.Request.URL.Path, "/static/") && cache != "no-store" {
		t.Errorf("Cache-Control: got %q, want no-store", cache)
	}
}

// TestEveryRouteIsGuarded asks for each address that there is: nothing answers
// without a session, to a foreign name, or to a foreign page.
func TestEveryRouteIsGuarded(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	seen := 0
	err := chi.Walk(at.routes(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		seen++
		path := strings.NewReplacer("{id}", "photos", "{hh}", "14", "{job}", "photos", "{run}", "r", "*", "app.css").Replace(route)
		api := strings.HasPrefix(route, "/api/")
		honest := ask{method: method, path: path, headers: headers{}}
		if method == http.MethodPost {
			honest = form(path, nil)
		}
		name := method + " " + route

		bare := honest
		bare.stolen = "none"
		want := http.StatusUnauthorized
		if strings.HasPrefix(route, "/static/") {
			want = http.StatusNotFound
		}
		if got := at.ask(t, bare).StatusCode; got != want {
			t.Errorf("%s without a session: got %d, want %d", name, got, want)
		}
		foreign := honest
		foreign.host = "evil.example:PORT"
		if got := at.ask(t, foreign).StatusCode; got != http.StatusMisdirectedRequest {
			t.Errorf("%s with a foreign host: got %d, want 421", name, got)
		}
		cross := honest
		cross.headers = headers{"Content-Type": formType, "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
		if got := at.ask(t, cross).StatusCode; got != http.StatusForbidden {
			t.Errorf("%s from another site: got %d, want 403", name, got)
		}
		if !api {
			delete(cross.headers, "Origin")
			if got := at.ask(t, cross).StatusCode; got != http.StatusForbidden {
				t.Errorf("%s from another site without Origin: got %d, want 403", name, got)
			}
		}
		return nil
	})
	if err != nil || seen < 30 {
		t.Errorf("walked %d routes: %v", seen, err)
	}
	if at.agent.Status().Pause.On {
		t.Error("a route without a session has paused the agent")
	}
}

func TestEntryCodes(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	var ahead time.Duration
	at.sessions.now = func() time.Time { return time.Now().Add(ahead) }
	enter := func(url string) *http.Response {
		return at.ask(t, ask{path: strings.TrimPrefix(url, "http://"+at.address), stolen: "none"})
	}

	url1 := at.OpenURL()
	if res := at.ask(t, ask{method: http.MethodHead, path: strings.TrimPrefix(url1, "http://"+at.address), stolen: "none"}); res.StatusCode != 401 {
		t.Errorf("HEAD: got %d, want 401", res.StatusCode)
	}
	res := enter(url1 + "&next=//evil.example")
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/" {
		t.Fatalf("got %d to %q, want 303 to /", res.StatusCode, res.Header.Get("Location"))
	}
	cookie := res.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Name != "hourhand_"+at.port() {
		t.Errorf("got cookie %v", cookie)
	}
	if res := at.ask(t, ask{stolen: cookie.Value}); res.StatusCode != 200 {
		t.Errorf("with the new cookie: got %d, want 200", res.StatusCode)
	}
	if res := enter(url1); res.StatusCode != 401 || len(res.Cookies()) > 0 {
		t.Errorf("code used twice: got %d, want 401", res.StatusCode)
	}

	url2 := at.OpenURL()
	ahead = codeLife + time.Second
	if res := enter(url2); res.StatusCode != 401 {
		t.Errorf("code of 31 s ago: got %d, want 401", res.StatusCode)
	}
	if res := enter("http://" + at.address + "/open"); res.StatusCode != 401 {
		t.Errorf("no code: got %d, want 401", res.StatusCode)
	}
}

func TestSessionsEnd(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	var ahead time.Duration
	at.sessions.now = func() time.Time { return time.Now().Add(ahead) }
	for _, step := range []struct {
		ahead time.Duration
		want  int
		why   string
	}{
		{6 * 24 * time.Hour, 200, "idle for 6 days"},
		{12 * 24 * time.Hour, 200, "used 6 days before"},
		{18 * 24 * time.Hour, 200, "used 6 days before"},
		{24 * 24 * time.Hour, 200, "used 6 days before"},
		{31 * 24 * time.Hour, 401, "older than 30 days"},
		{20 * 24 * time.Hour, 200, "clock set back"},
		{28 * 24 * time.Hour, 200, "within 30 days"},
	} {
		ahead = step.ahead
		if res := at.ask(t, ask{}); res.StatusCode != step.want {
			t.Errorf("%s: got %d, want %d", step.why, res.StatusCode, step.want)
		}
	}
	secret, _, err := at.sessions.enter(at.sessions.newCode(), "other")
	if err != nil {
		t.Fatal(err)
	}
	ahead += 8 * 24 * time.Hour
	if at.sessions.valid(secret) {
		t.Error("a session that was idle for 8 days is open")
	}
}

// TestSessionsSurviveRestart, and only hashes are kept.
func TestSessionsSurviveRestart(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	again, err := loadSessions(at.store, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if !again.valid(at.cookie.Value) {
		t.Error("the session is gone")
	}
	var kept []session
	if _, err := at.store.Setting(settingSessions, &kept); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprint(kept), at.cookie.Value) {
		t.Error("the secret itself is kept")
	}
}

func TestCloseAll(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	open := at.OpenURL()
	if res, _ := at.post(t, "/sessions/revoke", nil); res.StatusCode != http.StatusSeeOther {
		t.Errorf("got %d, want 303", res.StatusCode)
	}
	if status, _ := at.get(t, "/"); status != 401 {
		t.Errorf("after closing all: got %d, want 401", status)
	}
	if res := at.ask(t, ask{path: strings.TrimPrefix(open, "http://"+at.address), stolen: "none"}); res.StatusCode != 401 {
		t.Errorf("a code from before: got %d, want 401", res.StatusCode)
	}
}

// TestTossedCookie: a page on another port can set a cookie of our name.
func TestTossedCookie(t *testing.T) {
	at := newSite(t, show(literalStates()["idle"]))
	res := at.ask(t, ask{stolen: "none", headers: headers{"Cookie": at.cookie.Name + "=tossed; " + at.cookie.String()}})
	if res.StatusCode != 200 {
		t.Errorf("got %d, want 200", res.StatusCode)
	}
}

func TestPauseEnds(t *testing.T) {
	now := time.Date(2026, 3, 28, 22, 30, 0, 0, time.UTC)
	for choice, want := range map[string]time.Time{
		"30m":      now.Add(30 * time.Minute),
		"1h":       now.Add(time.Hour),
		"tomorrow": time.Date(2026, 3, 29, 8, 0, 0, 0, time.UTC),
		"resume":   {},
	} {
		if got, err := pauseEnd(choice, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", choice, got, err, want)
		}
	}
	if _, err := pauseEnd("for ever", now); len(agent.FieldErrors(err)) == 0 {
		t.Errorf("got %v, want a field error", err)
	}
}

func TestPauseAndResume(t *testing.T) {
	at := newSite(t, nil)
	if res, _ := at.post(t, "/pause", url.Values{"for": {"1h"}}); res.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d, want 303", res.StatusCode)
	}
	if p := at.agent.Status().Pause; !p.On || p.Until.IsZero() {
		t.Errorf("got %+v, want a pause of an hour", p)
	}
	if _, html := at.get(t, "/settings"); !strings.Contains(html, "Resume now") {
		t.Error("the settings do not offer to resume")
	}
	at.post(t, "/resume", nil)
	if at.agent.Status().Pause.On {
		t.Error("still paused")
	}
}
