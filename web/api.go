package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/store"
)

// waitStep is how long one question of Client.Wait is held. It is shorter than
// the time in which an answer must be taken.
const waitStep = 20 * time.Second

// apiRoutes is the API of the command line: JSON, a bearer token, never a cookie.
func (s *Server) apiRoutes(r chi.Router) {
	r.Get("/hello", api(s.apiHello))
	r.Get("/status", api(func(*http.Request) (any, error) { return s.status(), nil }))
	r.Get("/jobs", api(func(*http.Request) (any, error) { return s.store.Jobs() }))
	r.Post("/jobs", api(saving(s.agent.SaveJob)))
	r.Post("/jobs/adopt", api(saving(s.agent.AdoptJob)))
	r.Get("/jobs/{job}", api(func(r *http.Request) (any, error) { return s.jobOf(r) }))
	r.Get("/jobs/{job}/board", api(s.apiBoard))
	r.Post("/jobs/{job}/remove", api(s.apiRemove))
	r.Post("/jobs/{job}/start", api(s.apiStart))
	r.Post("/jobs/{job}/fill", api(s.apiFill))
	r.Post("/jobs/{job}/approve", api(s.apiApprove))
	r.Post("/jobs/{job}/verify", api(s.apiVerify))
	r.Post("/cancel", api(s.apiCancel))
	r.Post("/pause", api(s.apiPause))
	r.Post("/resume", api(func(*http.Request) (any, error) { return nothing{}, s.agent.Resume() }))
	r.Get("/runs/{run}", api(func(r *http.Request) (any, error) { return s.store.Run(chi.URLParam(r, "run")) }))
	r.Get("/runs/{run}/problems", api(s.apiProblems))
	r.Get("/runs/{run}/wait", api(s.apiWait))
	r.Get("/history", api(s.apiHistory))
	r.Post("/open", api(func(*http.Request) (any, error) { return openAnswer{URL: s.OpenURL()}, nil }))
}

// nothing is the answer of a call that has none.
type nothing struct{}

// errRequest is a call that our client would not make.
var errRequest = errors.New("the request cannot be read")

// api makes a handler of a call.
func api(call func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, err := call(r)
		switch {
		case errors.Is(err, errRequest):
			sendJSON(w, http.StatusBadRequest, wireError{Code: "other", Text: err.Error()})
		case err != nil:
			status, wire := toWire(err)
			sendJSON(w, status, wire)
		default:
			sendJSON(w, http.StatusOK, answer)
		}
	}
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, status, "application/json", body)
}

// send writes a whole answer. A reader who went away has nothing to be told.
func send(w http.ResponseWriter, status int, kind string, body []byte) {
	answerWithin(w, answerTime)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// takeJSON reads a call's body, which the guard has bounded.
func takeJSON[T any](r *http.Request) (T, error) {
	var v T
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		return v, fmt.Errorf("%w: %w", errRequest, err)
	}
	return v, nil
}

// jobOf finds the job that the address names by id or by name.
func (s *Server) jobOf(r *http.Request) (store.Job, error) {
	return s.store.Job(chi.URLParam(r, "job"))
}

// forJob takes a call's body and its job together.
func forJob[T any](s *Server, r *http.Request) (job store.Job, v T, err error) {
	if v, err = takeJSON[T](r); err != nil {
		return job, v, err
	}
	job, err = s.jobOf(r)
	return job, v, err
}

func (s *Server) apiHello(*http.Request) (any, error) {
	return helloAnswer{Version: s.status().Version, PID: os.Getpid()}, nil
}

// saving makes a call of one of the agent's ways to save a job.
func saving(save func(store.Job) (store.Job, []string, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		job, err := takeJSON[store.Job](r)
		if err != nil {
			return nil, err
		}
		saved, warnings, err := save(job)
		return savedAnswer{Job: saved, Warnings: warnings}, err
	}
}

func (s *Server) apiBoard(r *http.Request) (any, error) {
	job, err := s.jobOf(r)
	if err != nil {
		return nil, err
	}
	return s.store.Board(job.ID)
}

func (s *Server) apiRemove(r *http.Request) (any, error) {
	job, err := s.jobOf(r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.agent.RemoveJob(job.ID)
}

func (s *Server) apiStart(r *http.Request) (any, error) {
	job, v, err := forJob[startRequest](s, r)
	if err != nil {
		return nil, err
	}
	run, err := s.agent.Start(job.ID, v.Hour)
	return begunAnswer{Run: run}, err
}

func (s *Server) apiFill(r *http.Request) (any, error) {
	job, v, err := forJob[fillRequest](s, r)
	if err != nil {
		return nil, err
	}
	run, err := s.agent.Fill(job.ID, v.Hours)
	return begunAnswer{Run: run}, err
}

func (s *Server) apiApprove(r *http.Request) (any, error) {
	job, v, err := forJob[approveRequest](s, r)
	if err != nil {
		return nil, err
	}
	run, err := s.agent.Approve(job.ID, v.Plan)
	return begunAnswer{Run: run}, err
}

func (s *Server) apiVerify(r *http.Request) (any, error) {
	job, v, err := forJob[verifyRequest](s, r)
	if err != nil {
		return nil, err
	}
	run, err := s.agent.Verify(job.ID, v.Hours, v.Repair)
	return begunAnswer{Run: run}, err
}

func (s *Server) apiCancel(r *http.Request) (any, error) {
	v, err := takeJSON[cancelRequest](r)
	if err != nil {
		return nil, err
	}
	if v.Job != "" {
		job, err := s.store.Job(v.Job)
		if err != nil {
			return nil, err
		}
		v.Job = job.ID
	}
	return nothing{}, s.agent.Cancel(v.Job)
}

func (s *Server) apiPause(r *http.Request) (any, error) {
	v, err := takeJSON[pauseRequest](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.agent.Pause(v.Until)
}

func (s *Server) apiProblems(r *http.Request) (any, error) {
	return s.store.Problems(chi.URLParam(r, "run"))
}

// apiWait holds the question until the run has ended, or for waitStep.
func (s *Server) apiWait(r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), waitStep)
	defer cancel()
	run, err := s.agent.Wait(ctx, chi.URLParam(r, "run"))
	if errors.Is(err, context.DeadlineExceeded) {
		return waitAnswer{}, nil
	}
	return waitAnswer{Ended: true, Run: run}, err
}

func (s *Server) apiHistory(r *http.Request) (any, error) {
	limit, err := strconv.Atoi(r.FormValue("limit"))
	if err != nil {
		return nil, fmt.Errorf("%w: limit is no number", errRequest)
	}
	id := r.FormValue("job")
	if id != "" {
		job, err := s.store.Job(id)
		if err != nil {
			return nil, err
		}
		id = job.ID
	}
	runs := []store.Run{}
	for run, err := range s.store.Runs(id) {
		if err != nil {
			return nil, err
		}
		if limit > 0 && len(runs) == limit {
			break
		}
		runs = append(runs, run)
	}
	return runs, nil
}
