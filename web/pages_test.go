package web

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// pagesOf are the addresses of every page for a status with the job "photos".
func pagesOf(job, run string) []string {
	return []string{
		"/", "/?day=2026-11-29", "/jobs/new", "/settings", "/jobs/" + job, "/jobs/" + job + "?day=2026-11-29", "/jobs/" + job + "/edit",
		"/jobs/" + job + "/hours/14", "/jobs/" + job + "/hours/13", "/runs/" + run,
	}
}

func TestEveryPageInEveryState(t *testing.T) {
	states := literalStates()
	var l literal
	l.set(states["running"])
	at := newSite(t, l.into)
	withHistory(t, at.store, states["running"])
	for name, st := range states {
		t.Run(name, func(t *testing.T) {
			l.set(st)
			pages := []string{"/", "/jobs/new", "/settings"}
			if len(st.Jobs) > 0 {
				pages = pagesOf("photos", runID("photos", at14.Add(-112*time.Minute)))
			}
			for _, page := range pages {
				status, html := at.get(t, page)
				if status != http.StatusOK {
					t.Errorf("%s: got %d, want 200", page, status)
				}
				checkPage(t, page, html)
			}
		})
	}
}

// checkPage holds for every page: one h1, no style or script inside it, a type on
// each button, a closed document.
func checkPage(t *testing.T, page, html string) {
	t.Helper()
	if n := strings.Count(html, "<h1"); n != 1 {
		t.Errorf("%s has %d h1", page, n)
	}
	for _, bad := range []string{" style=", "<style", "<script>", "javascript:", " onclick", "<no value>", "%!", "ZgotmplZ"} {
		if strings.Contains(html, bad) {
			t.Errorf("%s contains %q", page, bad)
		}
	}
	if n, typed := strings.Count(html, "<button"), strings.Count(html, `<button type="`); n != typed {
		t.Errorf("%s: %d of %d buttons have a type", page, typed, n)
	}
	if !strings.Contains(html, `hx-sse:connect="/live?view=`) {
		t.Errorf("%s has no stream", page)
	}
	if !strings.HasSuffix(html, "</html>\n") {
		t.Errorf("%s ends early", page)
	}
}
