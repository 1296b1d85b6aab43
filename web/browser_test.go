//go:build browser

package web

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// tab is a browser window whose complaints fail the test: errors in the console,
// uncaught exceptions, and whatever the content policy had to stop.
type tab struct {
	context.Context
	t *testing.T

	mu         sync.Mutex // guards complaints
	complaints []string
}

// newTab starts chromium, and fails without it: the build tag asks for it.
func newTab(t *testing.T) *tab {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.UserDataDir(t.TempDir()),
	)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	at := &tab{Context: ctx, t: t}
	at.do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, at.listen); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: reportViolations}); err != nil {
		t.Fatal(err)
	}
	return at
}

const reportViolations = `document.addEventListener("securitypolicyviolation",
	(e) => console.error("content policy: " + e.violatedDirective + " " + e.blockedURI + " " + e.sample));`

func (at *tab) listen(event any) {
	at.mu.Lock()
	defer at.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			at.complaints = append(at.complaints, fmt.Sprint(e.Type, ": ", consoleText(e)))
		}
	case *runtime.EventExceptionThrown:
		at.complaints = append(at.complaints, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			at.complaints = append(at.complaints, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

func consoleText(e *runtime.EventConsoleAPICalled) string {
	var b strings.Builder
	for _, arg := range e.Args {
		fmt.Fprintf(&b, "%s %s ", arg.Value, arg.Description)
	}
	return b.String()
}

// quiet fails if the browser had anything to complain about.
func (at *tab) quiet() {
	at.t.Helper()
	at.mu.Lock()
	defer at.mu.Unlock()
	for _, c := range at.complaints {
		at.t.Error("browser: ", c)
	}
	at.complaints = nil
}

func (at *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	at.t.Helper()
	if err := chromedp.Do(at, actions...); err != nil {
		at.t.Fatal(err)
	}
}

func (at *tab) look(width, height int64, scheme string) {
	at.t.Helper()
	at.do(chromedp.EmulateViewport(width, height))
	_, err := chromedp.Call(at, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err != nil {
		at.t.Fatal(err)
	}
}

// shoot saves the whole page as a picture, if the caller wants pictures.
func (at *tab) shoot(name string) {
	at.t.Helper()
	dir := os.Getenv("HOURHAND_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(at, chromedp.FullScreenshot(100))
	if err != nil {
		at.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		at.t.Fatal(err)
	}
}

// fits fails if the page is wider than the window.
func (at *tab) fits(name string) {
	at.t.Helper()
	over, err := chromedp.Run(at, chromedp.Evaluate[string](widest))
	if err != nil {
		at.t.Fatal(err)
	}
	if over != "" {
		at.t.Errorf("%s scrolls sideways: %s", name, over)
	}
}

const widest = `(() => {
	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth <= width) return "";
	return [...document.querySelectorAll("main *, header *")].filter((e) => e.getBoundingClientRect().right > width + 1)
		.slice(0, 3).map((e) => e.tagName + "." + e.className + " " + e.getBoundingClientRect().right).join(", ") || "unknown";
})()`

// pagesToLookAt are the pages that show something new in a state.
func pagesToLookAt(state string, st agent.Status) map[string]string {
	pages := map[string]string{"overview": "/"}
	switch state {
	case "empty":
		pages["new"] = "/jobs/new"
	case "yielding":
		pages["report"] = runURL(st.Jobs[0].Run.ID)
	case "running":
		pages["settings"], pages["edit"], pages["day"] = "/settings", "/jobs/photos/edit", "/?day=2026-11-29"
	}
	if len(st.Jobs) > 0 {
		pages["job"], pages["hour"] = "/jobs/photos", "/jobs/photos/hours/13"
		if last := st.Jobs[0].Last; last != nil {
			pages["run"] = runURL(last.ID)
		}
	}
	return pages
}

// TestLooks renders every page and state, light and dark, wide and narrow: none
// scrolls sideways, and the browser has nothing to complain about. Pictures go to
// the folder HOURHAND_SHOTS, if it is set; HOURHAND_SHOTS_ONLY picks by name.
func TestLooks(t *testing.T) {
	states := literalStates()
	var l literal
	l.set(states["running"])
	site := newSite(t, l.into)
	withHistory(t, site.store, states["running"])
	atWork := states["yielding"].Jobs[0]
	if _, err := site.store.Begin(store.Run{ID: atWork.Run.ID, Job: atWork.Job.ID, Hour: 14, Due: at14, Started: at14, Trigger: "schedule"}); err != nil {
		t.Fatal(err)
	}
	for _, st := range states {
		for _, j := range st.Jobs {
			if j.Last != nil {
				if err := site.store.Finish(recordOf(j), literalProblems()[:min(j.Last.ProblemCount, 9)], nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	at := newTab(t)
	at.do(chromedp.Navigate(site.OpenURL()))
	for name, st := range states {
		l.set(st)
		for what, path := range pagesToLookAt(name, st) {
			at.lookAt(name+"-"+what, "http://"+site.address+path)
		}
	}
	at.quiet()
	at.lookAt("missing", "http://"+site.address+"/runs/none")
	if err := site.sessions.revokeAll(); err != nil {
		t.Fatal(err)
	}
	at.lookAt("locked", "http://"+site.address+"/settings")
}

func (at *tab) lookAt(name, url string) {
	at.t.Helper()
	for _, view := range []struct {
		name          string
		width, height int64
		scheme        string
	}{{"light", 1180, 900, "light"}, {"dark", 1180, 900, "dark"}, {"narrow", 360, 740, "light"}} {
		shot := name + "-" + view.name
		if !strings.Contains(shot, os.Getenv("HOURHAND_SHOTS_ONLY")) {
			continue
		}
		at.look(view.width, view.height, view.scheme)
		at.do(chromedp.Navigate(url))
		at.fits(shot)
		at.shoot(shot)
	}
}

// TestLooksOfTheAssistant renders its steps.
func TestLooksOfTheAssistant(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	d := draft{Schedule: everyHour, Drive: rawPath(filepath.Join(home, "Backup-SSD")), Excludes: []string{"node_modules/"}}
	for _, name := range []string{"Documents", "Pictures", "Music", "Backup-SSD", "Documents/code/node_modules"} {
		if err := os.MkdirAll(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Documents", "Pictures"} {
		d.Folders = append(d.Folders, rawPath(filepath.Join(home, name)))
	}
	if err := os.WriteFile(filepath.Join(home, "Documents/code/node_modules/f"), make([]byte, 3_200_000), 0o644); err != nil {
		t.Fatal(err)
	}
	site := newSite(t, func(s *Server) {
		s.driveOf = func(path string) (Drive, error) {
			return Drive{ID: filepath.Base(path), FileSystem: "exfat", Free: 41_200_000, Total: 1_000_000_000}, nil
		}
	})
	if err := site.store.SetSetting(settingDraft, d); err != nil {
		t.Fatal(err)
	}
	at := newTab(t)
	at.do(chromedp.Navigate(site.OpenURL()))
	for step := range 5 {
		at.lookAt(fmt.Sprintf("wizard-%d", step+1), fmt.Sprintf("http://%s/jobs/new?step=%d", site.address, step+1))
	}
	at.do(chromedp.Navigate("http://" + site.address + "/jobs/new?step=1"))
	at.until("the size", `document.getElementById("size-0").textContent.startsWith("3.2")`)
	at.lookAt("wizard-list", "http://"+site.address+"/jobs/new?step=1&dir="+rawPath(home).encode())
	at.quiet()
}
