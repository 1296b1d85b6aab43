//go:build browser

package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// eval reads a value from the page.
func eval[T any](at *tab, script string) T {
	at.t.Helper()
	v, err := chromedp.Run(at, chromedp.Evaluate[T](script))
	if err != nil {
		at.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// until waits for something to be true in the page, through navigations.
func (at *tab) until(what, script string) {
	at.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		ok, err := chromedp.Run(at, chromedp.Evaluate[bool](script))
		if ok {
			return
		}
		if time.Now().After(end) {
			at.t.Fatalf("%s did not come: %v\n%s", what, err, eval[string](at, `document.body.innerText`))
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-at.Done():
			at.t.Fatalf("%s did not come: %v", what, at.Err())
		}
	}
}

func (at *tab) press(label string) {
	at.t.Helper()
	ok := eval[bool](at, fmt.Sprintf(`(() => {
		const b = [...document.querySelectorAll("button, a.btn, summary")].find((b) => b.textContent.trim().endsWith(%q) && b.checkVisibility());
		if (b) b.click();
		return !!b;
	})()`, label))
	if !ok {
		at.t.Fatalf("no button %q", label)
	}
}

const (
	big   = `document.querySelector(".clock .big")?.textContent`
	isPct = `/^[1-9][0-9]?%$/.test(` + big + `)`
)

// TestSeeARun is what a person sees: the way in, a run that moves, a pause in the
// middle of it, and the sealed hour, on pages that never reload.
func TestSeeARun(t *testing.T) {
	site := newSite(t, nil)
	c := site.dial(t)
	job := newJob(t, c, nil)
	for i := range 40 {
		text := strings.Repeat(fmt.Sprint(i, " "), 80_000)
		if err := os.WriteFile(filepath.Join(job.Source, fmt.Sprintf("photo %02d <b>.jpg", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	job.Limit = 1_500_000
	if _, _, err := c.SaveJob(job); err != nil {
		t.Fatal(err)
	}

	at := newTab(t)
	at.look(1180, 900, "light")
	at.do(chromedp.Navigate(site.OpenURL()))
	if got := eval[string](at, `location.pathname + location.search`); got != "/" {
		t.Fatalf("the way in leads to %s", got)
	}
	at.until("the new job", `document.querySelector("h1").textContent.includes("has no copy yet")`)
	at.until("the stream", `!!document.getElementById("stream")?._htmx?.sse`)
	eval[bool](at, `window.stays = true`)
	at.press("Start first copy now")
	at.until("a percentage", isPct)
	first := eval[string](at, big)
	at.shoot("run-moving")
	at.until("another percentage", isPct+` && `+big+` !== `+fmt.Sprintf("%q", first))
	if title := eval[string](at, `document.title`); !strings.Contains(title, "% My photos") {
		t.Errorf("the tab says %q", title)
	}

	at.press("Pause")
	at.until("the pause", `document.querySelector("h1").textContent.startsWith("Paused") && `+big+` === "Paused"`)
	at.shoot("run-paused")
	at.press("Resume now")
	at.until("the run again", isPct)
	at.until("the end", `document.querySelector("h1").textContent === "Everything is protected"`)
	at.shoot("run-done")
	if !eval[bool](at, `window.stays === true`) {
		t.Error("the page was loaded anew")
	}
	if say := eval[string](at, `document.getElementById("say").textContent`); !strings.Contains(say, "copied and verified") {
		t.Errorf("a screen reader is told %q", say)
	}

	runs, err := c.History("", 0)
	if err != nil || len(runs) != 1 || runs[0].Outcome != store.Done || runs[0].Copied.Files != 40 {
		t.Fatalf("got %+v, %v, want one run of 40 files", runs, err)
	}
	at.do(chromedp.Navigate("http://" + site.address + hourURL(job.ID, runs[0].Hour)))
	if text := eval[string](at, `document.body.innerText`); !strings.Contains(text, "It equals the source as it was read") {
		t.Errorf("the hour's page says %s", text)
	}
	at.shoot("run-hour")
	at.do(chromedp.Navigate("http://" + site.address + runURL(runs[0].ID)))
	at.shoot("run-report")
	at.quiet()
}

func (s *source) status() agent.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// TestKeyboard: menus open and close by keys, and the stream takes nobody's focus
// away. A button that cannot do what it says, says why.
func TestKeyboard(t *testing.T) {
	src := newSource()
	src.set(statusWith(working(photos(), 0.01)))
	site := newSite(t, func(s *Server) {
		s.status, s.hub.watch, s.hub.now = src.status, src.watch, func() time.Time { return at14 }
	})
	if _, err := site.store.PutJob(photos().Job); err != nil {
		t.Fatal(err)
	}
	at := newTab(t)
	at.do(chromedp.Navigate(site.OpenURL()))
	at.do(chromedp.Navigate("http://" + site.address + "/jobs/photos"))
	at.until("the stream", `!!document.getElementById("stream")?._htmx?.sse`)
	eval[bool](at, `document.getElementById("pause-menu").focus(); true`)
	at.do(chromedp.KeyEvent("\r"))
	at.until("the menu", `document.querySelector(".menu").open`)
	for percent := 2; percent <= 21; percent++ {
		src.set(statusWith(working(photos(), float64(percent)/100)))
		at.until("the next number", fmt.Sprintf(`document.querySelector(".clock .big").textContent === "%d%%"`, percent))
	}
	if !eval[bool](at, `document.activeElement.id === "pause-menu" && document.querySelector(".menu").open`) {
		t.Error("the stream took the focus, or closed the menu")
	}
	at.do(chromedp.KeyEvent(kb.Escape))
	at.until("the menu's end", `!document.querySelector(".menu").open && document.activeElement.id === "pause-menu"`)

	at.press("Verify all hours")
	at.until("the reason", `document.getElementById("flash").textContent.includes("There is no verified hour yet")`)
	at.mu.Lock()
	at.complaints = nil // the browser logs the answer's status
	at.mu.Unlock()
}

// TestGivingWayComesAndGoes on a page that is never loaded anew: the stream puts
// bands and words into the graph and takes them away, and nothing in it moves by
// itself.
func TestGivingWayComesAndGoes(t *testing.T) {
	src := newSource()
	src.set(statusWith(working(photos(), 0.3)))
	site := newSite(t, func(s *Server) {
		s.status, s.hub.watch, s.hub.now = src.status, src.watch, func() time.Time { return at14 }
	})
	at := newTab(t)
	at.look(1180, 900, "light")
	at.do(chromedp.Navigate(site.OpenURL()))
	at.until("the stream", `!!document.getElementById("stream")?._htmx?.sse`)
	const gave = `document.querySelector(".spark .gave")`
	if !eval[bool](at, gave+` === null && document.querySelector(".spark .line").getBoundingClientRect().width > 100`) {
		t.Error("there are bands before it gave way, or there is no line")
	}
	src.set(statusWith(yielding(working(photos(), 0.3))))
	at.until("the bands", gave+`?.getBoundingClientRect().width > 100 && document.querySelector(".pace").textContent.includes("who read 48 MB/s")`)
	if n := eval[int](at, `document.querySelector(".live").getAnimations({subtree: true}).length`); n != 0 {
		t.Errorf("%d animations where less motion is wanted", n)
	}
	src.set(statusWith(working(photos(), 0.4)))
	at.until("their end", gave+` === null && !document.querySelector(".pace").textContent.includes("way")`)
	at.quiet()
}

// TestNamesDoNothing shows hostile names in a real browser, in pages and through
// the stream: nothing runs, nothing is asked for, nothing is changed.
func TestNamesDoNothing(t *testing.T) {
	var l literal
	l.set(literalStates()["idle"])
	site := newSite(t, l.into)
	if _, err := site.store.PutJob(photos().Job); err != nil {
		t.Fatal(err)
	}
	at := newTab(t)
	at.do(chromedp.Navigate(site.OpenURL()))
	for _, name := range hostileNames {
		st, run, problems := hostileStatus(name)
		if err := site.store.Finish(run, problems, nil); err != nil {
			t.Fatal(err)
		}
		l.set(st)
		for _, path := range []string{"/", "/jobs/photos", runURL(run.ID)} {
			at.do(chromedp.Navigate("http://" + site.address + path))
			at.until("the stream", `!!document.getElementById("stream")?._htmx?.sse && document.getElementById("say").textContent !== ""`)
			if n := eval[int](at, `document.querySelectorAll("main img, main script, [onerror], [hx-trigger]:not(#stream)").length`); n != 0 {
				t.Errorf("%q on %s made %d elements", name, path, n)
			}
		}
	}
	at.quiet()
}

// TestNobodyAnswers: the page says so when the agent is gone, and goes on when it
// is back.
func TestNobodyAnswers(t *testing.T) {
	at := newTab(t)
	var address string
	t.Run("agent", func(t *testing.T) {
		site := newSite(t, show(literalStates()["idle"]))
		address = site.address
		at.do(chromedp.Navigate(site.OpenURL()))
		at.until("the stream", `!!document.getElementById("stream")?._htmx?.sse`)
	}) // it ends here
	at.until("the banner", `!document.getElementById("gone").hidden`)
	at.shoot("gone")
	if text := eval[string](at, `document.getElementById("gone").innerText`); !strings.Contains(text, "The numbers are from 13:52") {
		t.Errorf("the banner says %q for %s", text, address)
	}
}
