package web

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/static"
	"github.com/hourhand/hourhand/store"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are pages and their parts in one set: a part looks the same in a
// page, in an answer to a button and in the stream.
var templates = template.Must(template.New("").Funcs(template.FuncMap{"asset": static.URL}).ParseFS(templateFiles, "templates/*.html"))

func render(name string, view any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, view); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// page answers with a whole page, or, if it cannot be rendered, with nothing of it.
func (s *Server) page(w http.ResponseWriter, status int, name string, view any) {
	body, err := render(name, view)
	if err != nil {
		s.log.Error("page cannot be shown", "page", name, "error", err)
		http.Error(w, "This page cannot be shown. The log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Vary", "HX-Request")
	send(w, status, "text/html; charset=utf-8", body)
}

// messageView is a page that says one thing.
type messageView struct {
	chrome
	Text string
}

// fail tells a person what did not work: in place of the page, or, if a button
// was pressed by script, above the page that stays.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, _ := toWire(err)
	text := capital(visible(sentence(err)))
	if status == http.StatusInternalServerError {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if fromScript(r) {
		s.flash(w, status, text)
		return
	}
	s.page(w, status, "message", messageView{s.chromeOf(s.status(), "That did not work", "", "page"), text})
}

// sentence puts an error of a button into words for who pressed it.
func sentence(err error) string {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "There is nothing at this address. It may have been removed."
	case errors.Is(err, agent.ErrBusy):
		return "This job is at work already."
	case errors.Is(err, agent.ErrNoRun):
		return "Nothing runs at the moment."
	case errors.Is(err, agent.ErrNotHeld):
		return "Nothing waits for your approval any more."
	case errors.Is(err, agent.ErrOtherPlan):
		return "The list has changed since it was shown to you. Look at it again."
	case errors.Is(err, agent.ErrPaused):
		return "Hourhand is paused. Resume first."
	case errors.Is(err, agent.ErrStopped):
		return "Hourhand is stopping."
	}
	return stopped(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// flash puts a sentence above the page from which a button was pressed.
func (s *Server) flash(w http.ResponseWriter, status int, text string) {
	body, err := render("flash", text)
	if err != nil {
		s.log.Error("message cannot be shown", "error", err)
		return
	}
	send(w, status, "text/html; charset=utf-8", body)
}

func fromScript(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// acted answers a button: a page kept fresh by the stream needs nothing, a page
// without script is loaded anew.
func acted(w http.ResponseWriter, r *http.Request, to string) {
	if fromScript(r) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// chromeOf makes a page's surroundings; live is its view in the stream.
func (s *Server) chromeOf(st agent.Status, title, nav, live string) chrome {
	if !strings.Contains(title, "Hourhand") {
		title += " – Hourhand"
	}
	look := s.look()
	c := chrome{Title: title, Theme: look.Theme, Nav: nav, Bar: barOf(st), Icon: iconOf(st.State), Now: moment(st.Now, st.Now)}
	if !look.Still {
		c.Stream = "/live?view=" + live
	}
	return c
}
