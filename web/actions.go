package web

import (
	"cmp"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/agent"
)

// The buttons of jobs and of the header: one call each.

func (s *Server) pause(w http.ResponseWriter, r *http.Request) {
	until, err := pauseEnd(r.PostForm.Get("for"), s.now())
	if err == nil {
		err = s.agent.Pause(until)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	acted(w, r, "/")
}

// morning is when a pause "until tomorrow" ends.
const morning = 8

// pauseEnd puts a choice of the menu into an instant; zero: until resumed.
func pauseEnd(choice string, now time.Time) (time.Time, error) {
	switch choice {
	case "30m":
		return now.Add(30 * time.Minute), nil
	case "1h":
		return now.Add(time.Hour), nil
	case "tomorrow":
		y, m, d := now.Date()
		return time.Date(y, m, d+1, morning, 0, 0, 0, now.Location()), nil
	case "resume":
		return time.Time{}, nil
	}
	return time.Time{}, &agent.FieldError{Field: "for", Text: "choose how long to pause"}
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	if err := s.agent.Resume(); err != nil {
		s.fail(w, r, err)
		return
	}
	acted(w, r, "/")
}

// runJob starts a job for the present hour, or for the one that its form names.
func (s *Server) runJob(w http.ResponseWriter, r *http.Request) {
	id, hour := chi.URLParam(r, "id"), -1
	var err error
	if text := r.PostForm.Get("hour"); text != "" {
		hour, err = parseHour(text)
	}
	if err == nil {
		_, err = s.agent.Start(id, hour)
	}
	s.done(w, r, err)
}

func (s *Server) cancelJob(w http.ResponseWriter, r *http.Request) {
	s.done(w, r, s.agent.Cancel(chi.URLParam(r, "id")))
}

func (s *Server) approveJob(w http.ResponseWriter, r *http.Request) {
	plan := r.PostForm.Get("plan")
	if plan == "" {
		s.fail(w, r, &agent.FieldError{Field: "plan", Text: "look at the list before you approve it"})
		return
	}
	_, err := s.agent.Approve(chi.URLParam(r, "id"), plan)
	s.done(w, r, err)
}

func (s *Server) fillJob(w http.ResponseWriter, r *http.Request) {
	_, err := s.agent.Fill(chi.URLParam(r, "id"), nil)
	s.done(w, r, err)
}

// verifyJob reads one hour back, all of them, or the newest. repair names an hour
// whose rot is to be healed.
func (s *Server) verifyJob(w http.ResponseWriter, r *http.Request) {
	id, repair := chi.URLParam(r, "id"), r.PostForm.Get("repair")
	hours, err := s.hoursToVerify(id, cmp.Or(repair, r.PostForm.Get("hour")))
	if err == nil {
		_, err = s.agent.Verify(id, hours, repair != "")
	}
	s.done(w, r, err)
}

func (s *Server) hoursToVerify(id, which string) ([]int, error) {
	switch which {
	case "":
		return nil, nil
	case "all":
		return s.sealedHours(id)
	}
	hour, err := parseHour(which)
	return []int{hour}, err
}

func (s *Server) sealedHours(id string) ([]int, error) {
	board, err := s.store.Board(id)
	if err != nil {
		return nil, err
	}
	var hours []int
	for hour, h := range board {
		if h.Content == contentSealed {
			hours = append(hours, hour)
		}
	}
	if len(hours) == 0 {
		return nil, &agent.FieldError{Field: "hour", Text: "there is no verified hour yet"}
	}
	return hours, nil
}

// deleteJob forgets a job. Its folders stay, and the form says so; a box must be
// ticked, which needs no script.
func (s *Server) deleteJob(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	if r.PostForm.Get("sure") == "" {
		s.fail(w, r, &agent.FieldError{Field: "sure", Text: "tick the box if the job shall be removed"})
		return
	}
	if err := s.agent.RemoveJob(id); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// done answers the buttons of a job.
func (s *Server) done(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	acted(w, r, jobURL(chi.URLParam(r, "id")))
}
