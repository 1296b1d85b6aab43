package web

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// The assistant for new jobs: five plain forms, one after the other. What was
// chosen is kept in a draft in the store, so that it works without script and
// survives a closed tab.

const settingDraft = "web.draft"

// draft is what was chosen so far.
type draft struct {
	Folders  []rawPath `json:"folders,omitempty"`
	Drive    rawPath   `json:"drive,omitempty"` // each job gets DRIVE/hourhand/NAME
	Schedule string    `json:"schedule,omitempty"`
	Fill     bool      `json:"fill,omitempty"` // all 24 hours now
	Excludes []string  `json:"excludes,omitempty"`
}

// The steps of the assistant.
const (
	stepWhat = iota + 1
	stepWhere
	stepFit
	stepSkip
	stepSure
)

var stepNames = []string{"What", "Where to", "When", "Leave out", "Start"}

// wizardView is one step.
type wizardView struct {
	chrome
	Step   int
	Steps  []stepView
	Errors formErrors

	Folders []folderView // step 1
	Drives  []driveView  // step 2
	Fits    []fitView    // step 3
	Fill    bool
	Skips   []skipView // step 4
	Own     string     // patterns of one's own
	Plans   []planLine // step 5
	Sure    string
	Home    string      // where the list of folders begins
	Browse  *browseView // steps 1 and 2: the list of folders
}

type stepView struct {
	Number int
	Name   string
	State  string // "done", "now", ""
}

type planLine struct{ Name, Source, Target string }

func (s *Server) wizard(w http.ResponseWriter, r *http.Request) {
	d, err := s.draft()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if r.FormValue("sizes") != "" {
		s.sendSizes(w, d)
		return
	}
	step, _ := strconv.Atoi(r.FormValue("step")) // anything else than a step is the first
	dir, _ := parseRawPath(r.FormValue("dir"))
	s.showStep(w, http.StatusOK, d, step, dir, nil)
}

// wizardStep takes one form. Its button says where to go: on, back, or into a
// folder of the list.
func (s *Server) wizardStep(w http.ResponseWriter, r *http.Request) {
	d, err := s.draft()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	step, _ := strconv.Atoi(r.PostForm.Get("step")) // anything else than a step is the first
	if step == stepSure && r.PostForm.Get("go") != "back" {
		s.create(w, r, d, r.PostForm.Get("go") == "start")
		return
	}
	next, err := d.answer(step, r.PostForm)
	if err == nil {
		err = s.store.SetSetting(settingDraft, d)
	}
	if err != nil {
		var dir rawPath
		if typed(r.PostForm) != "" {
			dir = home() // where the field for it is
		}
		s.showStep(w, http.StatusUnprocessableEntity, d, step, dir, formErrorsOf(err))
		return
	}
	http.Redirect(w, r, "/jobs/new?"+next.Encode(), http.StatusSeeOther)
}

// answer takes what was chosen in a step and tells what to show next.
func (d *draft) answer(step int, form url.Values) (next url.Values, err error) {
	if err := d.take(step, form); err != nil {
		return nil, err
	}
	next = url.Values{}
	switch {
	case form.Get("dir") != "":
		next.Set("dir", form.Get("dir"))
	case form.Get("add") != "":
		var path rawPath
		if path, err = parseRawPath(form.Get("add")); err == nil {
			d.add(step, path)
		}
	case form.Get("go") == "back":
		step--
	case typed(form) != "" && step <= stepWhere:
		err = d.addTyped(step, typed(form))
	default:
		err = d.check(step)
		step++
	}
	next.Set("step", strconv.Itoa(step))
	return next, err
}

func (s *Server) draft() (draft, error) {
	d := draft{Schedule: everyHour}
	_, err := s.store.Setting(settingDraft, &d)
	return d, err
}

// take reads the fields of a step.
func (d *draft) take(step int, form url.Values) (err error) {
	switch step {
	case stepWhat:
		d.Folders, err = parseRawPaths(form["folder"])
	case stepWhere:
		if form.Has("drive") {
			d.Drive, err = parseRawPath(form.Get("drive"))
		}
	case stepFit:
		d.Fill, d.Schedule = form.Get("fill") != "", everyHour
		if form.Get("schedule") == workingHours {
			d.Schedule = workingHours
		}
	case stepSkip:
		d.Excludes = append(form["skip"], splitLines(form.Get("own"))...)
	}
	return err
}

// typed is the path that was written instead of chosen from the list.
func typed(form url.Values) string { return strings.TrimSpace(form.Get("path")) }

// addTyped takes a written path, which must be a whole one: the agent works in
// no folder that a person could mean.
func (d *draft) addTyped(step int, path string) error {
	field := "folder"
	if step == stepWhere {
		field = "drive"
	}
	switch {
	case !filepath.IsAbs(path):
		return &agent.FieldError{Field: field, Text: "write the whole path of the folder, from its beginning: " + path}
	case !isFolder(path):
		return &agent.FieldError{Field: field, Text: "this folder is not there: " + path}
	}
	d.add(step, rawPath(filepath.Clean(path)))
	return nil
}

// add takes a folder that was chosen or written.
func (d *draft) add(step int, path rawPath) {
	if step == stepWhere {
		d.Drive = path
	} else if !slices.Contains(d.Folders, path) {
		d.Folders = append(d.Folders, path)
	}
}

// check tells what is missing before the next step.
func (d *draft) check(step int) error {
	switch step {
	case stepWhat:
		if len(d.Folders) == 0 {
			return &agent.FieldError{Field: "folder", Text: "choose at least one folder"}
		}
		return checkFolders(d.Folders)
	case stepWhere:
		if d.Drive == "" {
			return &agent.FieldError{Field: "drive", Text: "choose where the copies go"}
		}
		return checkDrive(d.Drive, d.Folders)
	}
	return nil
}

// showStep renders a step, or the first one that is not answered yet.
func (s *Server) showStep(w http.ResponseWriter, status int, d draft, step int, dir rawPath, wrong formErrors) {
	step = min(max(step, stepWhat), stepSure)
	switch {
	case len(d.Folders) == 0:
		step = stepWhat
	case d.Drive == "":
		step = min(step, stepWhere)
	}
	v := wizardView{
		chrome: s.chromeOf(s.status(), "New copy: "+stepNames[step-1], "", "page"),
		Step:   step, Errors: wrong, Home: home().encode(),
	}
	for i, name := range stepNames {
		state := map[bool]string{true: "done"}[i+1 < step]
		if i+1 == step {
			state = "now"
		}
		v.Steps = append(v.Steps, stepView{i + 1, name, state})
	}
	s.fillStep(&v, d, dir)
	s.page(w, status, "wizard", v)
}

func (s *Server) fillStep(v *wizardView, d draft, dir rawPath) {
	switch v.Step {
	case stepWhat:
		v.Folders = s.folderViews(d)
	case stepWhere:
		v.Drives = s.driveViews(d)
	case stepFit:
		v.Fits, v.Fill = s.fitViews(d), d.Fill
	case stepSkip:
		v.Skips, v.Own = s.skipViews(d)
	case stepSure:
		names := s.namesFor(d.Folders)
		for i, f := range d.Folders {
			v.Plans = append(v.Plans, planLine{names[i], f.shown(), rawPath(targetFor(d.Drive, names[i])).shown()})
		}
		v.Sure = sureSentence(d, names)
	}
	if dir == "" && (v.Step == stepWhat && len(v.Folders) == 0 || v.Step == stepWhere && len(v.Drives) == 0) {
		dir = home()
	}
	if dir != "" && v.Step <= stepWhere {
		v.Browse = browse(dir)
	}
}

func sureSentence(d draft, names []string) string {
	when := "Every hour"
	if d.Schedule == workingHours {
		when = "Every hour from 8 to 20"
	}
	list := strings.Join(names, ", ")
	if i := strings.LastIndex(list, ", "); i >= 0 {
		list = list[:i] + " and " + list[i+2:]
	}
	return fmt.Sprintf("%s, Hourhand copies %s to %s and reads every copied file back.", when, list, d.Drive.shown())
}

// targetFor is the folder of a job's 24 hours.
func targetFor(drive rawPath, name string) string {
	return filepath.Join(string(drive), "hourhand", name)
}

// create makes the jobs. One that is made leaves the draft, so that after an
// error the rest can be tried again.
func (s *Server) create(w http.ResponseWriter, r *http.Request, d draft, start bool) {
	for len(d.Folders) > 0 {
		job, err := s.createOne(d)
		if err != nil {
			s.showStep(w, http.StatusUnprocessableEntity, d, stepSure, "", formErrorsOf(err))
			return
		}
		d.Folders = d.Folders[1:]
		err = s.store.SetSetting(settingDraft, d)
		if start {
			err = errors.Join(err, s.begin(job, d.Fill))
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
	}
	if err := s.store.SetSetting(settingDraft, nil); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) createOne(d draft) (store.Job, error) {
	name := s.namesFor(d.Folders[:1])[0]
	if err := os.Mkdir(filepath.Join(string(d.Drive), "hourhand"), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return store.Job{}, &agent.FieldError{Field: "drive", Text: "no folder can be made there: " + err.Error()}
	}
	job, warn, err := s.agent.SaveJob(store.Job{
		Name: name, Source: string(d.Folders[0]), Target: targetFor(d.Drive, name), Mode: "mirror",
		Schedule: d.Schedule, Verify: "full", Retries: 2, Excludes: d.Excludes,
	})
	s.warnings.leave(job.ID, warn)
	return job, err
}

// begin starts a new job's first copy. During a pause it waits for its hour like
// any other, as the overview shows.
func (s *Server) begin(job store.Job, fill bool) (err error) {
	if fill {
		_, err = s.agent.Fill(job.ID, nil)
	} else {
		_, err = s.agent.Start(job.ID, -1)
	}
	if errors.Is(err, agent.ErrPaused) {
		return nil
	}
	return err
}

// namesFor gives each folder the name of its job: its own, made different from
// those of other jobs.
func (s *Server) namesFor(folders []rawPath) []string {
	taken := map[string]bool{}
	for _, j := range s.status().Jobs {
		taken[strings.ToLower(j.Job.Name)] = true
	}
	var names []string
	for _, f := range folders {
		base := jobName(string(f))
		name := base
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s %d", base, n)
		}
		taken[strings.ToLower(name)] = true
		names = append(names, name)
	}
	return names
}
