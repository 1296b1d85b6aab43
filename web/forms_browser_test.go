//go:build browser

package web

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFormsAreTaken presses the buttons of plain forms in a real browser, which
// sends the headers that no test of ours makes up: the guard must let them pass.
func TestFormsAreTaken(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"Documents", "drive"} {
		if err := os.Mkdir(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	site := newSite(t, nil)
	job := newJob(t, site.dial(t), nil)
	d := draft{Schedule: everyHour, Folders: []rawPath{rawPath(filepath.Join(home, "Documents"))}, Drive: rawPath(filepath.Join(home, "drive"))}
	if err := site.store.SetSetting(settingDraft, d); err != nil {
		t.Fatal(err)
	}
	at := newTab(t)
	at.do(chromedp.Navigate(site.OpenURL()))
	open := func(path string) { at.do(chromedp.Navigate("http://" + site.address + path)) }

	open("/jobs/new")
	for _, heading := range []string{"Where to?", "How often, and does it fit?", "Leave out what can be rebuilt?", "Ready"} {
		at.press("Next")
		at.until(heading, `document.querySelector("h1").textContent === "`+heading+`"`)
	}
	at.press("Wait for the next hour")
	at.until("the overview", `location.pathname === "/" && document.body.textContent.includes("Documents")`)

	open(jobURL(job.ID) + "/edit")
	eval[bool](at, `document.querySelector("[name=name]").value = "Pictures"; true`)
	at.press("Save")
	at.until("the job", `document.querySelector("h1").textContent === "Pictures"`)

	open("/settings")
	eval[bool](at, `document.querySelector("[name=theme][value=dark]").checked = true; true`)
	at.press("Save")
	at.until("the dark look", `document.documentElement.dataset.theme === "dark"`)
	at.press("For 1 hour")
	at.until("the pause", `document.querySelector("h1").textContent.startsWith("Paused")`)

	open(jobURL(job.ID) + "/edit")
	eval[bool](at, `document.querySelector("[name=sure]").checked = true; true`)
	at.press("Remove the job")
	at.until("the overview without it", `location.pathname === "/" && !document.body.textContent.includes("Pictures")`)

	open("/settings")
	at.press("Close all")
	at.until("the locked page", `location.pathname === "/locked"`)
	at.mu.Lock()
	at.complaints = nil // the browser logs that the locked page is 401
	at.mu.Unlock()
}
