package web

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// hostileNames are what a file, a folder or a browser may call itself.
var hostileNames = []string{
	`"><img src=x onerror=alert(1)>`,
	`' hx-post=/jobs/1/delete hx-trigger=load x='`,
	`<hx-partial hx-target=body>`,
	`</script><script>alert(1)</script>`,
	"a\rdata: x",
	"a\nevent: bye",
	"a\r\n\r\nretry: 1",
	"gpj.\u202eexe",
	"\xff\xfe",
	"\x00\x1b[31m",
	"\u2028\u2029\ufeff\u200b",
	`javascript:alert(1)`,
	`{{.}}`,
	strings.Repeat("ä", 127) + "b",
}

// hostileStatus puts a name wherever the status has a text of others.
func hostileStatus(name string) (agent.Status, store.Run, []store.Problem) {
	j := working(photos(), 0.5)
	j.Job.Name, j.Job.Source, j.Job.Target = name, "/"+name, "/t/"+name
	j.Job.Schedule, j.Job.Keep, j.Job.MaxDelete, j.Job.Excludes = name, name, name, []string{name}
	j.Run.Progress.Current = name
	j.Board[13].Notes, j.Board[13].Outcome = []string{name}, store.Failed
	r := *runFor(j.Job, at14.Truncate(time.Hour), store.Failed)
	r.Reason, r.Cause, r.Trigger, r.Notes, r.ProblemCount = name, name, name, []string{name}, 1
	j.Last = &r
	k := photos()
	k.Job.ID, k.Job.Name, k.State, k.Reason, k.Cause, k.Last = "other", name, agent.Failed, name, name, &r
	st := statusWith(j, k)
	st.Notice, st.Version = name, name
	return st, r, []store.Problem{{Path: name, Error: name, Cause: name}}
}

func TestHostileNames(t *testing.T) {
	var l literal
	l.set(literalStates()["idle"])
	at := newSite(t, l.into)
	job, err := at.store.PutJob(photos().Job)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range hostileNames {
		st, run, problems := hostileStatus(name)
		if err := at.store.Finish(run, problems, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := at.sessions.enter(at.sessions.newCode(), name); err != nil {
			t.Fatal(err)
		}
		at.recent.key = "" // the same run, other texts
		l.set(st)
		for _, page := range pagesOf(job.ID, run.ID) {
			status, html := at.get(t, page)
			if status != http.StatusOK {
				t.Errorf("%q on %s: got %d", name, page, status)
			}
			checkPage(t, page, strings.ReplaceAll(html, `javascript:alert(1)`, "")) // shown as a text is fine
			checkHarmless(t, name, page, html)
		}
		for _, view := range []string{"overview", "job/photos", "hour/photos/13", "run/" + run.ID, "page"} {
			checkHarmless(t, name, view, firstFrame(t, at, view))
		}
	}
}

func firstFrame(t *testing.T, at *site, view string) string {
	t.Helper()
	res := at.ask(t, ask{path: "/live?view=" + url.QueryEscape(view)})
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	var all strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\n" {
			return all.String()
		}
		if !strings.HasPrefix(line, "data: ") && line != streamRetry {
			t.Errorf("a line of the stream is %q", line)
		}
		all.WriteString(strings.TrimPrefix(line, "data: "))
	}
}

// checkHarmless wants a name to be text: none of it is markup, an attribute that
// acts, or a character that steers.
func checkHarmless(t *testing.T, name, where, html string) {
	t.Helper()
	for _, bad := range []string{"<img", "onerror=alert(1)>", "' hx-post=/jobs/1", "<hx-partial hx-target=body", "<script>alert", `href="javascript`} {
		if strings.Contains(html, bad) {
			t.Errorf("%q on %s is markup: %s", name, where, around(html, bad))
		}
	}
	if !utf8.ValidString(html) {
		t.Errorf("%q on %s: invalid UTF-8", name, where)
	}
	for i, r := range html {
		if r != '\n' && steers(r) && unicode.IsPrint(r) == false {
			t.Errorf("%q on %s: %U near %q", name, where, r, html[max(0, i-40):i])
			return
		}
	}
}

func around(text, part string) string {
	i := strings.Index(text, part)
	return text[max(0, i-60):min(len(text), i+60)]
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"Bilder 2024 – ö":   "Bilder 2024 – ö",
		"a\rb\nc":           `a\rb\nc`,
		"gpj.\u202eexe":     `gpj.\u202eexe`,
		"\xff":              `\xff`,
		"a\x00\x1b":         `a\x00\x1b`,
		"\u200bzero":        `\u200bzero`,
		"می\u200cخواهم":     "می\u200cخواهم",
		"👩\u200d🚀":          "👩\u200d🚀",
		"\U000e0041\ufffdx": `\U000e0041\ufffdx`,
		`C:\new`:            `C:\new`,
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
