package web

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// fullForm is what a browser sends of the edit page of a job.
func fullForm(j store.Job, edit url.Values) url.Values {
	f := fieldsOf(j)
	form := url.Values{
		"name": {f.Name}, "source": {f.Source}, "target": {f.Target}, "schedule": {f.time}, "cron": {f.Cron}, "keep": {f.Keep},
		"limit": {f.Limit}, "max_delete": {f.MaxDelete}, "mode": {f.mode}, "verify": {f.proof}, "profile": {f.pace},
		"excludes": {strings.ReplaceAll(f.Excludes, "\n", "\r\n")},
	}
	for name, values := range edit {
		form[name] = values
	}
	return form
}

func TestEditJob(t *testing.T) {
	at := newSite(t, nil)
	job := newJob(t, at.dial(t), nil)
	res, html := at.post(t, jobURL(job.ID)+"/edit", fullForm(job, url.Values{
		"name": {"Pictures"}, "schedule": {"cron"}, "cron": {"30 7-19 * * 1-5"}, "limit": {"2,5"}, "excludes": {"*.tmp\r\n\r\ncache/\r\n"},
		"checksum": {"1"}, "off": {"1"}, "max_delete": {"10%"},
	}))
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != jobURL(job.ID) {
		t.Fatalf("got %d to %q, want 303 to the job: %s", res.StatusCode, res.Header.Get("Location"), html)
	}
	got, err := at.store.Job(job.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "Pictures" || got.Schedule != "30 7-19 * * 1-5" || got.Limit != 2_500_000 || !got.Checksum || !got.Disabled ||
		got.MaxDelete != "10%" || !slices.Equal(got.Excludes, []string{"*.tmp", "cache/"}) || got.Source != job.Source {
		t.Errorf("got %+v", got)
	}
}

// TestWarningsAreShownOnce on the page to which the form leads.
func TestWarningsAreShownOnce(t *testing.T) {
	at := newSite(t, nil)
	job := newJob(t, at.dial(t), nil)
	at.warnings.leave(job.ID, []string{"both are on one drive"})
	if _, html := at.get(t, jobURL(job.ID)); strings.Count(html, "Saved, but:") != 1 {
		t.Errorf("the job's page does not show the warning: %s", html)
	}
	if _, html := at.get(t, jobURL(job.ID)); strings.Contains(html, "Saved, but:") {
		t.Error("the warning is shown again")
	}
}

// TestFormsComeBackFilled: what is refused is shown with what was typed, and each
// field says what is wrong with it.
func TestFormsComeBackFilled(t *testing.T) {
	at := newSite(t, nil)
	job := newJob(t, at.dial(t), nil)
	for _, c := range []struct {
		edit  url.Values
		field string
		typed string
	}{
		{url.Values{"name": {""}, "keep": {"soon"}}, "name", "soon"},
		{url.Values{"schedule": {"cron"}, "cron": {"99 * * * *"}}, "schedule", "99 * * * *"},
		{url.Values{"schedule": {"cron"}, "cron": {" "}}, "schedule", ""},
		{url.Values{"limit": {"fast"}}, "limit", "fast"},
		{url.Values{"target": {"/nowhere/at/all"}}, "target", "/nowhere/at/all"},
		{url.Values{"max_delete": {"many"}}, "max_delete", "many"},
	} {
		res, html := at.post(t, jobURL(job.ID)+"/edit", fullForm(job, c.edit))
		if res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%v: got %d, want 422", c.edit, res.StatusCode)
		}
		for _, want := range []string{`aria-describedby="wrong-` + c.field + `"`, `id="wrong-` + c.field + `"`, c.typed} {
			if !strings.Contains(html, want) {
				t.Errorf("%v: no %s in the form", c.edit, want)
			}
		}
		checkPage(t, "edit", html)
	}
	if kept, err := at.store.Job(job.ID); err != nil || kept.Name != job.Name {
		t.Errorf("a refused form changed the job: %+v, %v", kept, err)
	}
}

// TestUntouchedFieldsKeepTheirBytes: a path that no form can show exactly must
// survive an edit of something else.
func TestUntouchedFieldsKeepTheirBytes(t *testing.T) {
	job := store.Job{Source: "/a\rb\xff", Target: "/t\u202e", Excludes: []string{"x\x01"}, Schedule: "5 * * * *", Limit: 1_234_567}
	form := fullForm(job, nil)
	got, err := typedFields(form).onto(job)
	if err != nil {
		t.Fatal(err)
	}
	if got.Source != job.Source || got.Target != job.Target || !slices.Equal(got.Excludes, job.Excludes) || got.Schedule != job.Schedule || got.Limit != job.Limit {
		t.Errorf("got %+v, want %+v", got, job)
	}
}

func TestRemoveJobNeedsTheBox(t *testing.T) {
	at := newSite(t, nil)
	job := newJob(t, at.dial(t), nil)
	if res, _ := at.post(t, jobURL(job.ID)+"/delete", nil); res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("without the box: got %d, want 422", res.StatusCode)
	}
	if res, _ := at.post(t, jobURL(job.ID)+"/delete", url.Values{"sure": {"1"}}); res.StatusCode != http.StatusSeeOther {
		t.Errorf("with the box: got %d, want 303", res.StatusCode)
	}
	if status, _ := at.get(t, jobURL(job.ID)); status != http.StatusNotFound {
		t.Errorf("removed job: got %d, want 404", status)
	}
}

// TestButtonsAnswerBothWays: a plain form is sent on, one sent by script gets
// nothing to swap, or a sentence above the page.
func TestButtonsAnswerBothWays(t *testing.T) {
	at := newSite(t, nil)
	c := at.dial(t)
	job := newJob(t, c, map[string]string{"a": "b"})
	cancel := form(jobURL(job.ID)+"/cancel", nil)
	res := at.ask(t, cancel)
	if html := body(t, res); res.StatusCode != http.StatusConflict || !strings.Contains(html, "Nothing runs at the moment.") || !strings.Contains(html, "<h1") {
		t.Errorf("cancel of nothing: got %d: %s", res.StatusCode, html)
	}
	cancel.headers["HX-Request"] = "true"
	res = at.ask(t, cancel)
	if html := body(t, res); !strings.HasPrefix(html, `<hx-partial hx-target="#flash"`) {
		t.Errorf("cancel of nothing by script: got %s", html)
	}
	start := form(jobURL(job.ID)+"/run", headers{"HX-Request": "true"})
	start.body = "hour=05"
	if res := at.ask(t, start); res.StatusCode != http.StatusNoContent {
		t.Errorf("start by script: got %d, want 204", res.StatusCode)
	}
	runs, err := c.History("", 0)
	for err == nil && len(runs) == 0 { // it is queued first
		runs, err = c.History("", 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Wait(t.Context(), runs[0].ID); err != nil || r.Hour != 5 {
		t.Errorf("got hour %d, %v, want 5", r.Hour, err)
	}
}

func TestSettingsAreKept(t *testing.T) {
	at := newSite(t, nil)
	if res, _ := at.post(t, "/settings", url.Values{"theme": {"dark"}}); res.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d, want 303", res.StatusCode)
	}
	_, html := at.get(t, "/settings")
	if !strings.Contains(html, `<html lang="en" data-theme="dark">`) || strings.Contains(html, "hx-sse:connect") {
		t.Error("neither dark nor still")
	}
	at.post(t, "/settings", url.Values{"theme": {"pink"}, "live": {"1"}})
	if _, html := at.get(t, "/settings"); strings.Contains(html, "data-theme") || !strings.Contains(html, "hx-sse:connect") {
		t.Error("not back at the defaults")
	}
}

// TestWizardMakesJobs goes through all five steps without script.
func TestWizardMakesJobs(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	odd := "odd\rname"
	if os.PathSeparator == '\\' {
		odd = "odd name"
	}
	for _, dir := range []string{"Pictures", "Documents/node_modules/x", odd, "drive"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "Documents", "node_modules", "x", "f"), make([]byte, 5000), 0o644); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return rawPath(filepath.Join(home, name)).encode() }
	at := newSite(t, func(s *Server) {
		s.driveOf = func(path string) (Drive, error) {
			return Drive{ID: filepath.Base(path), FileSystem: "ext4", Free: 40_000, Total: 1_000_000}, nil
		}
	})
	step := func(want string, form url.Values) string {
		t.Helper()
		res, html := at.post(t, "/jobs", form)
		if want == "" {
			return html
		}
		if to := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, want) {
			t.Fatalf("got %d to %q, want 303 to %s: %s", res.StatusCode, to, want, html)
		}
		_, html = at.get(t, res.Header.Get("Location"))
		checkPage(t, want, html)
		return html
	}

	if _, html := at.get(t, "/jobs/new"); !strings.Contains(html, in("Pictures")) {
		t.Error("the usual folders are not offered")
	}
	if html := step("", url.Values{"step": {"1"}}); !strings.Contains(html, "Choose at least one folder") {
		t.Error("no folder was taken for an answer")
	}
	html := step("/jobs/new?dir=", url.Values{"step": {"1"}, "folder": {in("Documents")}, "dir": {in("")}})
	if !strings.Contains(html, in(odd)) || !strings.Contains(html, `value="`+in("Documents")+`" checked`) {
		t.Error("the list of folders is not shown, or what was ticked is lost")
	}
	step("/jobs/new?step=1", url.Values{"step": {"1"}, "folder": {in("Documents")}, "add": {in(odd)}})
	step("/jobs/new?step=2", url.Values{"step": {"1"}, "folder": {in("Documents"), in(odd)}})
	if html := step("", url.Values{"step": {"2"}, "drive": {in("Documents")}}); !strings.Contains(html, "cannot go into the folder") {
		t.Error("a target inside the source was taken")
	}
	for _, wrong := range []string{"drive", filepath.Join(home, "nowhere")} {
		if html := step("", url.Values{"step": {"2"}, "go": {"next"}, "path": {wrong}}); !strings.Contains(html, `id="wrong-drive"`) || !strings.Contains(html, `name="path"`) {
			t.Errorf("the path %s is not refused in a form to write it again", wrong)
		}
	}
	if html := step("/jobs/new?step=2", url.Values{"step": {"2"}, "go": {"path"}, "path": {filepath.Join(home, "drive")}}); !strings.Contains(html, `value="`+in("drive")+`" checked`) {
		t.Error("a written path is not chosen")
	}
	step("/jobs/new?step=2", url.Values{"step": {"2"}, "add": {in("drive")}})
	step("/jobs/new?step=3", url.Values{"step": {"2"}, "drive": {in("drive")}})
	step("/jobs/new?step=4", url.Values{"step": {"3"}, "schedule": {workingHours}})
	for { // counted in the background
		if _, html := at.get(t, "/jobs/new?step=3"); strings.Contains(html, "24 copies of 5.0"+hardSpace+"kB: up to 120"+hardSpace+"kB; 40.0"+hardSpace+"kB free: that will not fit") {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("the space was never told")
		}
	}
	if _, html := at.get(t, "/jobs/new?step=4"); !strings.Contains(html, `value="node_modules/"`) {
		t.Error("node_modules is not offered to be left out")
	}
	html = step("/jobs/new?step=5", url.Values{"step": {"4"}, "skip": {"node_modules/"}, "own": {"*.tmp"}})
	if !strings.Contains(html, "Every hour from 8 to 20, Hourhand copies Documents and odd") {
		t.Error("the last step does not say what will be done")
	}
	step("/", url.Values{"step": {"5"}, "go": {"wait"}})

	jobs, err := at.store.Jobs()
	if err != nil || len(jobs) != 2 {
		t.Fatalf("got %v, %v, want two jobs", jobs, err)
	}
	for _, j := range jobs {
		if j.Profile != "" || j.Schedule != workingHours || !slices.Equal(j.Excludes, []string{"node_modules/", "*.tmp"}) || filepath.Dir(j.Target) != filepath.Join(home, "drive", "hourhand") {
			t.Errorf("got %+v", j)
		}
	}
	if jobs[1].Source != filepath.Join(home, odd) {
		t.Errorf("got source %q, want %q", jobs[1].Source, odd)
	}
	if _, html := at.get(t, "/jobs/new"); strings.Contains(html, " checked") {
		t.Error("the draft is still there")
	}
}

func TestJudgeDrives(t *testing.T) {
	drives := map[string]Drive{
		"good": {ID: "1", FileSystem: "ext4"}, "fat": {ID: "2", FileSystem: "vfat"}, "full": {ID: "3", ReadOnly: true}, "same": {ID: "9"}, "source": {ID: "9"},
	}
	s := &Server{driveOf: func(path string) (Drive, error) { return drives[path], nil }}
	for path, want := range map[string]string{"good": "ok", "fat": "warn", "full": "bad", "same": "warn"} {
		var v driveView
		s.judge(&v, rawPath(path), []rawPath{"source"})
		if v.Class != want || v.Blocked != (want == "bad") {
			t.Errorf("%s: got %+v, want %s", path, v, want)
		}
	}
}

func TestJobNames(t *testing.T) {
	for folder, want := range map[string]string{
		"/home/me/Pictures": "Pictures", "/": "Computer", "/x/a\rb": "a-b", "/x/Bücher 2024": "Bücher 2024", "/x/…": "Computer", "/x/.config": "config",
	} {
		if got := jobName(folder); got != want {
			t.Errorf("%q: got %q, want %q", folder, got, want)
		}
	}
	s := &Server{status: func() agent.Status { return statusWith(photos()) }}
	got := s.namesFor([]rawPath{"/a/photos", "/b/Photos", "/c/Other"})
	if !slices.Equal(got, []string{"photos 2", "Photos 3", "Other"}) {
		t.Errorf("got %v", got)
	}
}
