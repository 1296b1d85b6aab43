package web

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/static"
)

// longestBrowser bounds what is kept of a User-Agent.
const longestBrowser = 200

// open turns a single-use code into a session. It leads to the overview and
// nowhere else, whatever the query says.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		s.locked(w, r) // whoever only looks must not use up the code
		return
	}
	browser := r.UserAgent()
	secret, ok, err := s.sessions.enter(r.URL.Query().Get("code"), browser[:min(len(browser), longestBrowser)])
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !ok {
		s.locked(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: secret, Path: "/", MaxAge: int(sessionLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// locked tells how to get in. With a Strict cookie a link on a foreign page
// comes without it: Continue then leads in.
func (s *Server) locked(w http.ResponseWriter, _ *http.Request) {
	s.page(w, http.StatusUnauthorized, "locked", messageView{chrome: chrome{Title: "Locked – Hourhand", Theme: s.look().Theme, Icon: static.URL("icons/idle.svg")}})
}

// asset serves the embedded files; their names change with their bytes.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	a, ok := static.Find(strings.TrimPrefix(chi.URLParam(r, "*"), "/"))
	if !ok {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	send(w, http.StatusOK, a.Type, a.Body)
}
