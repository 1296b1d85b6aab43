package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// What crosses /api/v1, the same for server and client. Values of package agent
// and store cross as their own JSON.

type helloAnswer struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
}

type savedAnswer struct {
	Job      store.Job `json:"job"`
	Warnings []string  `json:"warnings,omitempty"`
}

type begunAnswer struct {
	Run string `json:"run"`
}

type waitAnswer struct {
	Ended bool      `json:"ended"`
	Run   store.Run `json:"run,omitzero"`
}

type openAnswer struct {
	URL string `json:"url"`
}

type startRequest struct {
	Hour int `json:"hour"`
}

type fillRequest struct {
	Hours []int `json:"hours"`
}

type approveRequest struct {
	Plan string `json:"plan"`
}

type verifyRequest struct {
	Hours  []int `json:"hours"`
	Repair bool  `json:"repair"`
}

type cancelRequest struct {
	Job string `json:"job"`
}

type pauseRequest struct {
	Until time.Time `json:"until,omitzero"`
}

// wireError is an error on its way: its sentence for a person, and a code from
// which the client makes an error that callers can test for.
type wireError struct {
	Code   string      `json:"code"`
	Text   string      `json:"error"`
	Fields []wireField `json:"fields,omitempty"`
}

// wireField is an agent.FieldError.
type wireField struct {
	Field string `json:"field"`
	Text  string `json:"error"`
	Cause string `json:"cause,omitempty"`
}

const codeFields = "fields"

// sentinels are the errors that keep their identity across the API.
var sentinels = []struct {
	code   string
	err    error
	status int
}{
	{"busy", agent.ErrBusy, http.StatusConflict},
	{"no-run", agent.ErrNoRun, http.StatusConflict},
	{"not-held", agent.ErrNotHeld, http.StatusConflict},
	{"other-plan", agent.ErrOtherPlan, http.StatusConflict},
	{"paused", agent.ErrPaused, http.StatusConflict},
	{"stopping", agent.ErrStopped, http.StatusServiceUnavailable},
	{"not-found", store.ErrNotFound, http.StatusNotFound},
}

// toWire tells how an error crosses, and with which status. An error that no
// caller branches on is the agent's trouble: 500.
func toWire(err error) (int, wireError) {
	var fields []wireField
	for _, f := range agent.FieldErrors(err) {
		fields = append(fields, wireField{f.Field, f.Text, f.Cause})
	}
	if fields != nil {
		return http.StatusUnprocessableEntity, wireError{Code: codeFields, Text: err.Error(), Fields: fields}
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.status, wireError{Code: s.code, Text: err.Error()}
		}
	}
	return http.StatusInternalServerError, wireError{Code: "other", Text: err.Error()}
}

// err is what toWire was given, as far as a caller can tell.
func (w wireError) err() error {
	var all []error
	for _, f := range w.Fields {
		all = append(all, &agent.FieldError{Field: f.Field, Text: f.Text, Cause: f.Cause})
	}
	if all != nil {
		return errors.Join(all...)
	}
	for _, s := range sentinels {
		if w.Code == s.code {
			return remoteError{text: w.Text, is: s.err}
		}
	}
	return errors.New(w.Text)
}

// remoteError has the text of the agent's error and wraps the same sentinel.
type remoteError struct {
	text string
	is   error
}

func (e remoteError) Error() string { return e.text }
func (e remoteError) Unwrap() error { return e.is }
