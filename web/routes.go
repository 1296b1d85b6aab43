package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/store"
)

// routes is every address there is. Nothing stands outside the guard.
func (s *Server) routes() *chi.Mux {
	r := chi.NewRouter()
	r.Use(s.guard)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, store.ErrNotFound) })
	r.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, refusal{http.StatusMethodNotAllowed, "This address is used in another way."})
	})

	r.Get("/", s.overview)
	r.Get("/jobs/new", s.wizard)
	r.Get("/jobs/{id}", s.job)
	r.Get("/jobs/{id}/edit", s.editJob)
	r.Get("/jobs/{id}/hours/{hh}", s.hour)
	r.Get("/runs/{id}", s.run)
	r.Get("/settings", s.settings)
	r.Get("/locked", s.locked)
	r.Get("/live", s.live)
	r.Get("/open", s.open)
	r.Get("/static/*", s.asset)

	r.Post("/pause", s.pause)
	r.Post("/resume", s.resume)
	r.Post("/jobs", s.wizardStep)
	r.Post("/jobs/{id}/run", s.runJob)
	r.Post("/jobs/{id}/cancel", s.cancelJob)
	r.Post("/jobs/{id}/approve", s.approveJob)
	r.Post("/jobs/{id}/fill", s.fillJob)
	r.Post("/jobs/{id}/verify", s.verifyJob)
	r.Post("/jobs/{id}/edit", s.saveJob)
	r.Post("/jobs/{id}/delete", s.deleteJob)
	r.Post("/settings", s.saveSettings)
	r.Post("/sessions/revoke", s.revokeSessions)

	r.Route("/api/v1", s.apiRoutes)
	return r
}
