package bench

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ours is a case of the engine with its median on each tree.
func ours(group, profile string, workers int, medians ...float64) Case {
	p := map[string]engine.Profile{"gentle": engine.ProfileGentle, "normal": engine.ProfileNormal, "full": engine.ProfileFull}
	return timed(ourCase(group, p[profile], workers).Case, medians...)
}

func yielded(c Case) Case {
	c.Yielded = true
	return c
}

// once is a case of which only one round was timed, at its median.
func once(c Case) Case {
	for i, t := range c.Times {
		c.Times[i] = Time{t.Work, []float64{t.Median}, t.Median, t.Median}
	}
	return c
}

// timed has two rounds around each median.
func timed(c Case, medians ...float64) Case {
	for i, m := range medians {
		for _, s := range []float64{m * 1.1, m * 0.9} {
			c.add(works[i].name, time.Duration(math.Round(s*1e9)))
		}
	}
	return c
}

func TestMedianAndBest(t *testing.T) {
	var c Case
	for _, s := range []float64{3, 1, 8} {
		c.add("w", time.Duration(s*1e9))
	}
	if got, ok := c.on("w"); !ok || got.Median != 3 || got.Best != 1 {
		t.Errorf("got %+v, want median 3 and best 1", got)
	}
	c.add("w", 2*time.Second)
	if got, _ := c.on("w"); got.Median != 2.5 {
		t.Errorf("of four rounds: got %v, want 2.5", got.Median)
	}
}

func TestAdvice(t *testing.T) {
	cp := timed(Case{Group: Tools, Name: "cp -a"}, 2)
	rsync := timed(Case{Group: Tools, Name: "rsync -aHAX"}, 4)
	for _, c := range []struct {
		name     string
		cases    []Case
		settings string
		cost     float64
		says     []string
	}{
		{"nothing measured", []Case{cp}, "", 0, nil},
		{"by itself is as good", []Case{
			rsync, cp,
			ours(Full, "gentle", 0, 1.2), ours(Full, "normal", 0, 1), ours(Full, "full", 0, 1), ours(Full, "full", 4, 0.95), ours(Full, "full", 8, 1.1),
			ours(Source, "full", 0, 0.8), ours(Source, "full", 4, 0.1),
		}, "--profile gentle --workers 0 --verify full", 25,
			[]string{"No number of files at once is clearly faster", "Profile gentle is for the hourly runs", "its cost is 20 % of time", "by hand use normal", "costs 25 % of time", "0.50 of the time of cp -a, the fastest tool found", `the row "profile full"`, "geometric mean over the trees"}},
		{"a number is clearly faster: the smallest as good as the best", []Case{
			ours(Full, "gentle", 0, 1), ours(Full, "full", 0, 1), ours(Full, "full", 1, 0.9), ours(Full, "full", 4, 0.62), ours(Full, "full", 8, 0.60),
			ours(Source, "full", 0, 0.1), ours(Source, "full", 4, 0.62),
		}, "--profile gentle --workers 4 --verify full", 0,
			[]string{"With 4 files at once it takes 0.62 of the time", "its cost is no time that could be measured", "Reading every file back costs no time that could be measured", `the row "4 workers"`}},
		{"gentle is dear", []Case{ours(Full, "gentle", 0, 3), ours(Full, "normal", 0, 1.4), ours(Full, "full", 0, 1)},
			"--profile normal --workers 0 --verify full", 0, []string{"Profile normal", "its cost is 40 %"}},
		{"only full is fast", []Case{ours(Full, "gentle", 0, 3), ours(Full, "normal", 0, 2), ours(Full, "full", 0, 1)},
			"--profile full --workers 0 --verify full", 0, []string{"more than half as long again"}},
		{"gentle gave way to others", []Case{yielded(ours(Full, "gentle", 0, 3)), ours(Full, "normal", 0, 1), ours(Full, "full", 0, 1)},
			"--profile gentle --workers 0 --verify full", 0, []string{"Other programs used the drive meanwhile", "its cost is not known"}},
		{"gentle gave way to others for a moment", []Case{yielded(ours(Full, "gentle", 0, 1.01)), ours(Full, "full", 0, 1)},
			"--profile gentle --workers 0 --verify full", 0, []string{"Other programs used the drive meanwhile", "its cost is not known"}},
		{"rounds differ by more than the settings", []Case{ours(Full, "gentle", 0, 1), ours(Full, "full", 0, 1), ours(Full, "full", 4, 0.85)},
			"--profile gentle --workers 0 --verify full", 0, []string{"No number of files at once is clearly faster"}},
		{"one round names no number of workers", []Case{
			once(ours(Full, "gentle", 0, 1.1)), once(ours(Full, "full", 0, 1)), once(ours(Full, "full", 4, 0.3)), once(ours(Source, "full", 0, 0.9)),
		}, "--profile gentle --workers 0 --verify full", 11,
			[]string{"One round only gives an impression", "its cost is less than one round can tell", "Reading every file back costs less than one round can tell"}},
		{"each tree counts alike, however long it takes", []Case{
			ours(Full, "gentle", 0, 100, 0.1), ours(Full, "full", 0, 100, 0.1), ours(Full, "full", 2, 110, 0.05), ours(Source, "full", 2, 110, 0.025),
		}, "--profile gentle --workers 2 --verify full", 100 * (math.Sqrt2 - 1), nil},
		{"verification is never advised against", []Case{ours(Full, "gentle", 0, 9), ours(Full, "full", 0, 9), ours(Source, "full", 0, 1)},
			"--profile gentle --workers 0 --verify full", 800, nil},
		{"failed cases do not count", []Case{
			ours(Full, "full", 0, 1), {Group: Full, Profile: "full", Workers: 8, Failed: "x", Times: []Time{{Work: "one file", Median: 0.1}}},
			{Group: Tools, Name: "cp -a", Failed: "x", Times: []Time{{Work: "one file", Median: 0.1}}},
		}, "--profile full --workers 0 --verify full", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := advise(c.cases)
			if a.Settings != c.settings || math.Abs(a.VerifyCost-c.cost) > 0.5 {
				t.Errorf("got %q at a cost of %v %%, want %q at %v", a.Settings, a.VerifyCost, c.settings, c.cost)
			}
			for _, text := range c.says {
				if !strings.Contains(a.Text, text) {
					t.Errorf("%q does not say %q", a.Text, text)
				}
			}
			if a.Warning != "" && !strings.HasPrefix(a.Text, a.Warning) {
				t.Errorf("the warning does not come first: %q", a.Text)
			}
		})
	}
}

// sample is a result as a bench of two drives could have it.
func sample() Result {
	start := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	r := Result{
		Started: start, Ended: start.Add(4*time.Minute + 12*time.Second), System: "linux/amd64, 2 processors",
		Source: Drive{"/home/ann", "ext4", "solid"}, Target: Drive{"/media/<b>usb</b>", "exfat", ""},
		Size: DefaultSize, Rounds: 2, Cold: (&cooler{drop: true}).how(),
		Verified: engine.Verified{Device: engine.Count{Files: 9, Bytes: 990}, Cache: engine.Count{Files: 1, Bytes: 10}},
		LeftOut:  []string{"rclone: not installed"}, Notes: []string{"durability not provable: mounted with nobarrier"},
	}
	for _, w := range works {
		files := w.files(r.Size)
		bytes, folders := sum(files)
		r.Works = append(r.Works, Work{w.name, int64(len(files)), folders, bytes})
	}
	r.Cases = []Case{
		timed(Case{Group: Plain, Name: "naive copy"}, 2.5, 1.9, 12.34, 101.4),
		timed(Case{Group: Tools, Name: "cp -a"}, 2.1, 1.8, 6.2, 9.87),
		{Group: Tools, Name: "rsync -aHAX", Failed: "exit status 1"},
		ours(Full, "gentle", 0, 2.6, 2, 5, 8), ours(Full, "normal", 0, 2.2, 1.8, 4.2, 7), ours(Full, "full", 0, 2, 1.5, 4, 7.1),
		ours(Full, "full", 1, 2.1, 2.2, 8.1, 13), ours(Full, "full", 8, 2.01, 1.4, 4.1, 7.3), ours(Full, "full", 32, 2.05, 1.6, 4.3, 7.8),
		ours(Source, "full", 0, 1.5, 1.1, 3, 5), ours(Source, "full", 1, 1.6, 1.8, 6, 9), ours(Source, "full", 8, 1.55, 1.2, 3, 5), ours(Source, "full", 32, 1.5, 1.3, 3.1, 6),
	}
	r.Advice = advise(r.Cases)
	return r
}

func TestTable(t *testing.T) {
	var got bytes.Buffer
	if err := sample().Table(&got); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", got.Bytes())
	for line := range strings.Lines(got.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestReport(t *testing.T) {
	var got bytes.Buffer
	if err := sample().HTML(&got); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.html", got.Bytes())
	for _, foreign := range []string{"<b>usb", "<script", "src=", "href=", "url(", "http:", "https:", "@import", "ZgotmplZ", "NaN", "Inf"} {
		if bytes.Contains(got.Bytes(), []byte(foreign)) {
			t.Errorf("the page has %q", foreign)
		}
	}
}

func TestOneRoundShowsNoSecondNumber(t *testing.T) {
	r := sample()
	r.Rounds = 1
	for i, c := range r.Cases {
		r.Cases[i] = once(c)
	}
	var table, page bytes.Buffer
	if err := errors.Join(r.Table(&table), r.HTML(&page)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(table.String(), "2.00 (") || strings.Contains(page.String(), "<small>(") {
		t.Error("a value is shown twice")
	}
}

func TestReportOfNothing(t *testing.T) {
	var table, page bytes.Buffer
	r := Result{Works: []Work{{Name: "photos"}}, Cases: []Case{{Group: Full, Name: "x", Profile: "full"}}}
	if err := r.Table(&table); err != nil {
		t.Error(err)
	}
	if err := r.HTML(&page); err != nil {
		t.Error(err)
	}
	if strings.Contains(page.String(), "NaN") {
		t.Error("the page has NaN")
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		put(t, path, string(got))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")) // a checkout on Windows
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at the difference and say -update:\n%s", name, got)
	}
}
