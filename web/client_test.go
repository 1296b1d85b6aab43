package web

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// dial finds the site by its agent.json, as the command line does.
func (at *site) dial(t *testing.T) *Client {
	t.Helper()
	var c *Client
	for end := time.Now().Add(5 * time.Second); ; { // Serve writes agent.json first of all
		var err error
		if c, err = Dial(at.dataDir); err == nil {
			return c
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// newJob makes a job with a small source, and returns it as it is stored.
func newJob(t *testing.T, c *Client, files map[string]string) store.Job {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	job, _, err := c.SaveJob(store.Job{Name: "My photos", Source: source, Target: filepath.Join(dir, "target"), Schedule: "", Mode: "mirror", Verify: "full"})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestClientRunsAJob(t *testing.T) {
	at := newSite(t, nil)
	c := at.dial(t)
	job := newJob(t, c, map[string]string{"a.txt": "alpha", "b.txt": "beta"})

	run, err := c.Start("My photos", 7)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := c.Wait(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if ended.Outcome != store.Done || ended.Copied.Files != 2 || !ended.Sealed {
		t.Errorf("got %+v, want 2 files copied and sealed", ended)
	}
	if text, err := os.ReadFile(filepath.Join(job.Target, "07", "a.txt")); err != nil || string(text) != "alpha" {
		t.Errorf("got %q, %v", text, err)
	}
	board, err := c.Board(job.ID)
	if err != nil || board[7].Content != contentSealed {
		t.Errorf("got %+v, %v, want a sealed hour", board[7], err)
	}
	runs, err := c.History("My photos", 5)
	if err != nil || len(runs) != 1 || runs[0].ID != run {
		t.Errorf("got %v, %v, want the run", runs, err)
	}
	problems, err := c.Problems(run)
	if err != nil || len(problems) != 0 {
		t.Errorf("got %v, %v, want none", problems, err)
	}
	checked, err := c.Verify(job.ID, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := c.Wait(t.Context(), checked); err != nil || ended.Outcome != store.Done {
		t.Errorf("verify: got %+v, %v", ended, err)
	}
	st, err := c.Status()
	if err != nil || len(st.Jobs) != 1 || st.Jobs[0].NewestHour != 7 {
		t.Errorf("got %+v, %v", st, err)
	}
	if err := c.RemoveJob(job.ID); err != nil {
		t.Fatal(err)
	}
	if jobs, err := c.Jobs(); err != nil || len(jobs) != 0 {
		t.Errorf("got %v, %v, want no job", jobs, err)
	}
	if _, err := os.Stat(filepath.Join(job.Target, "07", "b.txt")); err != nil {
		t.Errorf("removing the job touched its copies: %v", err)
	}
}

// TestErrorsKeepTheirIdentity across the API.
func TestErrorsKeepTheirIdentity(t *testing.T) {
	at := newSite(t, nil)
	c := at.dial(t)
	job := newJob(t, c, nil)
	_, err := c.Job("nobody")
	for _, check := range []struct {
		what string
		err  error
		want error
	}{
		{"unknown job", err, store.ErrNotFound},
		{"cancel of nothing", c.Cancel(job.ID), agent.ErrNoRun},
		{"approve of nothing", second(c.Approve(job.ID, "")), agent.ErrNotHeld},
		{"unknown run", second(c.Run("none")), store.ErrNotFound},
		{"wait for an unknown run", second(c.Wait(t.Context(), "none")), store.ErrNotFound},
	} {
		if !errors.Is(check.err, check.want) {
			t.Errorf("%s: got %v, want %v", check.what, check.err, check.want)
		}
	}
	if err := c.Pause(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(job.ID, -1); !errors.Is(err, agent.ErrPaused) {
		t.Errorf("start while paused: got %v, want ErrPaused", err)
	}
	if err := c.Resume(); err != nil {
		t.Fatal(err)
	}
	_, _, err = c.SaveJob(store.Job{Name: "", Source: "relative", Target: "/x", Schedule: "never"})
	var fields []string
	for _, f := range agent.FieldErrors(err) {
		fields = append(fields, f.Field)
	}
	for _, want := range []string{"name", "schedule"} {
		if !slices.Contains(fields, want) {
			t.Errorf("got %v (%v), want an error about %s", fields, err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestDialFindsOnlyOurAgent(t *testing.T) {
	empty := t.TempDir()
	if _, err := Dial(empty); !errors.Is(err, ErrNoAgent) {
		t.Errorf("no file: got %v, want ErrNoAgent", err)
	}
	at := newSite(t, nil)
	at.dial(t)
	for name, a := range map[string]agentFile{
		"nobody there": {Address: loopback + ":1", Token: "x", PID: 1},
		"other token":  {Address: at.address, Token: "x", PID: os.Getpid()},
		"other pid":    {Address: at.address, Token: at.token, PID: 1},
	} {
		dir := t.TempDir()
		if err := a.write(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Dial(dir); !errors.Is(err, ErrNoAgent) {
			t.Errorf("%s: got %v, want ErrNoAgent", name, err)
		}
	}
	if err := os.WriteFile(agentFilePath(empty), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(empty); !errors.Is(err, ErrNoAgent) {
		t.Errorf("damaged file: got %v, want ErrNoAgent", err)
	}
	info, err := os.Stat(agentFilePath(at.dataDir))
	if err != nil || (info.Mode().Perm() != 0o600 && os.PathSeparator == '/') {
		t.Errorf("agent.json: got %v, %v, want mode 0600", info, err)
	}
}

func TestOpenCodeLetsIn(t *testing.T) {
	at := newSite(t, nil)
	url, err := at.dial(t).OpenCode()
	if err != nil {
		t.Fatal(err)
	}
	res := at.ask(t, ask{path: strings.TrimPrefix(url, "http://"+at.address), stolen: "none"})
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 {
		t.Errorf("got %d and %d cookies, want 303 and one", res.StatusCode, len(res.Cookies()))
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	at := newSite(t, nil)
	c := at.dial(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Wait(ctx, "any"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled", err)
	}
}
