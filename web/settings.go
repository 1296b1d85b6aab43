package web

import (
	"net/http"
	"slices"

	"github.com/hourhand/hourhand/agent"
)

const settingLook = "web.look"

// look is how the dashboard looks to this user.
type look struct {
	Theme string `json:"theme,omitempty"` // "light", "dark"; "": as the system
	Still bool   `json:"still,omitempty"` // pages do not change by themselves
}

// look falls back to the defaults: a page in the wrong colours is better than none.
func (s *Server) look() look {
	var l look
	if _, err := s.store.Setting(settingLook, &l); err != nil {
		s.log.Warn("look of the dashboard cannot be read", "error", err)
	}
	return l
}

// settingsView is the page "/settings".
type settingsView struct {
	chrome
	Paused   string // "until 16:30", or ""
	Themes   []choiceView
	Still    bool
	Guarded  bool // the look-up of a connection's user is possible here
	AnyUser  bool
	Sessions []sessionView
	Excludes []string
	Address  string
	DataDir  string
	Version  string
	Saved    bool
}

type choiceView struct {
	Value, Label, Say string
	On                bool
}

type sessionView struct {
	Browser     string
	Began, Used stamp
	Mine        bool
}

func (s *Server) settings(w http.ResponseWriter, r *http.Request) {
	st := s.status()
	l := s.look()
	v := settingsView{
		chrome: s.chromeOf(st, "Settings", "settings", "page"),
		Themes: []choiceView{
			{Value: "", Label: "As the system", On: l.Theme == ""},
			{Value: "light", Label: "Light", On: l.Theme == "light"},
			{Value: "dark", Label: "Dark", On: l.Theme == "dark"},
		},
		Still: l.Still, Guarded: canCheckPeer, AnyUser: s.anyUser(), Sessions: s.sessionViews(r, st),
		Excludes: s.excludes, Address: s.address, DataDir: visible(s.dataDir), Version: visible(st.Version),
		Saved: r.FormValue("saved") != "",
	}
	if st.Pause.On {
		v.Paused = untilOf(st.Pause, st.Now)
	}
	s.page(w, http.StatusOK, "settings", v)
}

func (s *Server) sessionViews(r *http.Request, st agent.Status) []sessionView {
	var mine []string
	for _, c := range r.CookiesNamed(s.cookieName()) {
		mine = append(mine, hashOf(c.Value))
	}
	var list []sessionView
	for _, one := range s.sessions.list() {
		list = append(list, sessionView{
			Browser: visible(one.Browser), Began: stampOf(st.Now, one.Began), Used: stampOf(st.Now, one.Used),
			Mine: slices.Contains(mine, one.Hash),
		})
	}
	return list
}

func (s *Server) saveSettings(w http.ResponseWriter, r *http.Request) {
	l := look{Theme: r.PostForm.Get("theme"), Still: r.PostForm.Get("live") == ""}
	if l.Theme != "light" && l.Theme != "dark" {
		l.Theme = ""
	}
	if err := s.store.SetSetting(settingLook, l); err != nil {
		s.fail(w, r, err)
		return
	}
	if canCheckPeer {
		if err := s.store.SetSetting(settingAnyUser, r.PostForm.Get("any_user") != ""); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	http.Redirect(w, r, "/settings?saved=1", http.StatusSeeOther)
}

// revokeSessions closes every dashboard, this one too: that is what shows that
// it worked.
func (s *Server) revokeSessions(w http.ResponseWriter, r *http.Request) {
	if err := s.sessions.revokeAll(); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/locked", http.StatusSeeOther)
}
