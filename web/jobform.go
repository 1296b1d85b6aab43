package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// Schedules that the form offers by name. Others are written as cron lines.
const (
	everyHour    = "0 * * * *"
	workingHours = "0 8-20 * * *"
)

// jobFormView is the form of a job, with what was typed and what is wrong.
type jobFormView struct {
	chrome
	Name   string // of the job as it is stored
	Action string
	Back   string
	Delete string
	Errors formErrors
	Field  formFields
	Times  []choiceView
	Modes  []choiceView
	Proofs []choiceView
	Paces  []choiceView
}

// formErrors is what is to be put right before a form is taken.
type formErrors []wireField

// Of is what is wrong with a field, or ""; templates ask.
func (e formErrors) Of(field string) string {
	for _, one := range e {
		if one.Field == field {
			return one.Text
		}
	}
	return ""
}

// formFields is what stands in the fields.
type formFields struct {
	Name, Source, Target string
	Cron                 string // if no named schedule is chosen
	Keep, Limit          string
	MaxDelete, Excludes  string
	NoDefaults, Checksum bool
	DeleteExcluded, Off  bool
	time, mode           string
	proof, pace          string
}

func (s *Server) editJob(w http.ResponseWriter, r *http.Request) {
	job, err := s.store.Job(chi.URLParam(r, "id"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "jobform", s.formOf(job, fieldsOf(job), nil))
}

// saveJob saves the form. What cannot be accepted comes back with the same form,
// filled as it was sent.
func (s *Server) saveJob(w http.ResponseWriter, r *http.Request) {
	job, err := s.store.Job(chi.URLParam(r, "id"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	typed := typedFields(r.PostForm)
	changed, err := typed.onto(job)
	var warn []string
	if err == nil {
		_, warn, err = s.agent.SaveJob(changed)
	}
	if err != nil {
		s.page(w, http.StatusUnprocessableEntity, "jobform", s.formOf(job, typed, formErrorsOf(err)))
		return
	}
	s.warnings.leave(job.ID, warn)
	http.Redirect(w, r, jobURL(job.ID), http.StatusSeeOther)
}

// warnings are what a person should think about after saving a job, kept until
// the job's page, to which the form leads, has shown them once.
type warnings struct {
	mu sync.Mutex // guards of
	of map[string][]string
}

func (l *warnings) leave(job string, texts []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string][]string{}
	}
	l.of[job] = texts
}

func (l *warnings) take(job string) (list []noticeView) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range l.of[job] {
		list = append(list, noticeView{Class: "warn", Lead: "Saved, but:", Text: stopped(capital(visible(text)))})
	}
	delete(l.of, job)
	return list
}

// formErrorsOf is what a form shows of an error; one about no field in particular
// stands above all of them.
func formErrorsOf(err error) formErrors {
	if err == nil {
		return nil
	}
	list := formErrors{}
	for _, f := range agent.FieldErrors(err) {
		list = append(list, wireField{Field: f.Field, Text: capital(visible(f.Text))})
	}
	if len(list) == 0 {
		list = append(list, wireField{Text: capital(visible(sentence(err)))})
	}
	return list
}

func (s *Server) formOf(job store.Job, f formFields, wrong formErrors) jobFormView {
	at := jobURL(job.ID)
	return jobFormView{
		chrome: s.chromeOf(s.status(), "Edit "+visible(job.Name), "", "page"),
		Name:   visible(job.Name), Action: at + "/edit", Back: at, Delete: at + "/delete", Errors: wrong, Field: f,
		Times: choose(f.time,
			choiceView{Value: everyHour, Label: "Every hour", Say: "24 copies, one for each hour"},
			choiceView{Value: workingHours, Label: "From 8 to 20", Say: "an hour's copy stays until the next day"},
			choiceView{Value: "hand", Label: "Only by hand"},
			choiceView{Value: "cron", Label: "By a cron line", Say: "five fields, local time"}),
		Modes: choose(f.mode,
			choiceView{Value: "mirror", Label: "An exact copy in each hour", Say: "what is gone from the source goes from the copy too"},
			choiceView{Value: "changes", Label: "Only what is new or changed", Say: "for a drive in which little changes"}),
		Proofs: choose(f.proof,
			choiceView{Value: "full", Label: "Read every copied file back", Say: "from the drive where that is possible"},
			choiceView{Value: "source", Label: "Only take checksums while copying", Say: "faster; proves nothing about the drive"},
			choiceView{Value: "none", Label: "No proof"}),
		Paces: choose(f.pace,
			choiceView{Value: "", Label: "By itself", Say: "gentle when the schedule starts it, normal when you do"},
			choiceView{Value: "gentle", Label: "Gentle", Say: "gives way to other programs before anybody feels it, and takes longer while they work"},
			choiceView{Value: "normal", Label: "Normal", Say: "goes on beside other programs, which it slows down a little"},
			choiceView{Value: "full", Label: "Full speed", Say: "takes all that the drives give, and lets other programs wait"}),
	}
}

// choose marks one of several choices.
func choose(value string, of ...choiceView) []choiceView {
	for i := range of {
		of[i].On = of[i].Value == value
	}
	return of
}

func fieldsOf(j store.Job) formFields {
	f := formFields{
		Name: j.Name, Source: visible(j.Source), Target: visible(j.Target), Keep: j.Keep, MaxDelete: j.MaxDelete,
		Excludes: visibleLines(j.Excludes), NoDefaults: j.NoDefaultExcludes, Checksum: j.Checksum,
		DeleteExcluded: j.DeleteExcluded, Off: j.Disabled,
		mode: orElse(j.Mode, "mirror"), proof: orElse(j.Verify, "full"), pace: j.Profile,
	}
	switch j.Schedule {
	case everyHour, workingHours:
		f.time = j.Schedule
	case "":
		f.time = "hand"
	default:
		f.time, f.Cron = "cron", j.Schedule
	}
	if j.Limit > 0 {
		f.Limit = strconv.FormatFloat(float64(j.Limit)/1e6, 'f', -1, 64)
	}
	return f
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func visibleLines(lines []string) string {
	var shown []string
	for _, l := range lines {
		shown = append(shown, visible(l))
	}
	return strings.Join(shown, "\n")
}

func typedFields(form url.Values) formFields {
	return formFields{
		Name: form.Get("name"), Source: form.Get("source"), Target: form.Get("target"), Cron: form.Get("cron"),
		Keep: form.Get("keep"), Limit: form.Get("limit"), MaxDelete: form.Get("max_delete"), Excludes: form.Get("excludes"),
		NoDefaults: form.Get("no_defaults") != "", Checksum: form.Get("checksum") != "",
		DeleteExcluded: form.Get("delete_excluded") != "", Off: form.Get("off") != "",
		time: form.Get("schedule"), mode: form.Get("mode"), proof: form.Get("verify"), pace: form.Get("profile"),
	}
}

// onto lays the fields over a job. What a field cannot show exactly (bytes that
// are no text in a path) is kept if the field was left as it was.
func (f formFields) onto(j store.Job) (store.Job, error) {
	old := fieldsOf(j)
	j.Name, j.Mode, j.Verify, j.Profile = strings.TrimSpace(f.Name), f.mode, f.proof, f.pace
	j.Keep, j.MaxDelete = strings.TrimSpace(f.Keep), strings.TrimSpace(f.MaxDelete)
	j.NoDefaultExcludes, j.Checksum, j.DeleteExcluded, j.Disabled = f.NoDefaults, f.Checksum, f.DeleteExcluded, f.Off
	if f.Source != old.Source {
		j.Source = f.Source
	}
	if f.Target != old.Target {
		j.Target = f.Target
	}
	if lines := splitLines(f.Excludes); !slices.Equal(lines, splitLines(old.Excludes)) {
		j.Excludes = lines
	}
	switch f.time {
	case "hand":
		j.Schedule = ""
	case "cron":
		if j.Schedule = strings.TrimSpace(f.Cron); j.Schedule == "" {
			return j, &agent.FieldError{Field: "schedule", Text: "write the cron line, or choose another time"}
		}
	default:
		j.Schedule = f.time
	}
	var err error
	j.Limit, err = parseLimit(f.Limit)
	return j, err
}

func splitLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// parseLimit takes megabytes per second; "" is no limit.
func parseLimit(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	mb, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err != nil || mb < 0 || mb > 1e6 {
		return 0, &agent.FieldError{Field: "limit", Text: "the limit is a number of megabytes per second, such as 20"}
	}
	return int64(mb * 1e6), nil
}
