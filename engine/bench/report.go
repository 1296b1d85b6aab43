package bench

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
)

//go:embed report.html
var reportHTML string

var reportPage = template.Must(template.New("report").Parse(reportHTML))

// HTML writes the result as one page that needs nothing beside it: no script, no
// other file, no network.
func (r Result) HTML(w io.Writer) error { return reportPage.Execute(w, r.page()) }

// page is what the template shows; all numbers are formatted here.
type page struct {
	Title      string
	When       string
	Drives     string
	What       string
	Settings   []string // flags with their values; none without advice
	Warning    string
	Why        string
	Tiles      []tile
	Works      []workView
	Groups     []tableGroup
	Conditions []string
}

type tile struct{ Value, Label string }

// workView is the picture of one tree: a bar for each case, and the times over
// the number of workers.
type workView struct {
	Name, Size string
	Groups     []barGroup
	Lines      lines
}

type barGroup struct {
	Title, Class string
	Bars         []bar
}

// bar is one case. Positions are per cent of the width.
type bar struct {
	Name, Value string
	Median      string
	From, To    string // the best and the worst round
	Spread      bool   // From and To differ
	Fastest     bool
	Title       string
}

type tableGroup struct {
	Title string
	Rows  []tableRow
}

type tableRow struct {
	Name  string
	Cells []tableCell
}

type tableCell struct {
	Median, Best string // Best: "" with one round
	Fastest      bool
}

func (r Result) page() page {
	p := page{
		Title: "Bench of " + r.Target.Folder, When: r.Started.Format("2 January 2006, 15:04"),
		Drives: r.drives(), What: r.what(), Settings: r.Advice.flags(), Warning: r.Advice.Warning, Why: r.Advice.Why, Tiles: r.tiles(), Conditions: r.Conditions()[1:],
	}
	for _, k := range r.Works {
		p.Works = append(p.Works, r.work(k))
	}
	for _, g := range groupTitles {
		if t := r.tableGroup(g.group, g.short); len(t.Rows) > 0 {
			p.Groups = append(p.Groups, t)
		}
	}
	return p
}

// flags are the settings one by one, so that no line breaks within one.
func (a Advice) flags() []string {
	if a.Settings == "" {
		return nil
	}
	return []string{"--profile " + a.Profile, fmt.Sprintf("--workers %d", a.Workers), "--verify " + a.Verify}
}

// tiles are the answers in a number each.
func (r Result) tiles() []tile {
	a := r.Advice
	if a.Text == "" {
		return nil
	}
	workers := "by itself"
	if a.Workers > 0 {
		workers = fmt.Sprint(a.Workers)
	}
	cost := fmt.Sprintf("+%.0f %%", a.VerifyCost)
	switch {
	case a.VerifyCost < unmeasurable:
		cost = "none"
	case r.Rounds == 1 && a.VerifyCost < unmeasurableOnce:
		cost = "little"
	}
	tiles := []tile{
		{a.Profile, "profile"}, {workers, "files at once"}, {a.Verify, "verification"},
		{cost, "time for reading every file back"},
	}
	if a.Peer != "" {
		tiles = append(tiles, tile{fmt.Sprintf("%.2f x", a.PeerRatio), "the time of " + a.Peer + ", verified"})
	}
	return tiles
}

func (r Result) work(k Work) workView {
	v := workView{Name: k.title(), Size: k.size(), Lines: r.lines(k.Name)}
	longest := 0.0
	for _, c := range r.Cases {
		if t, ok := c.on(k.Name); ok {
			longest = max(longest, slices.Max(t.Seconds))
		}
	}
	for _, g := range groupTitles {
		bars := barGroup{Title: g.short, Class: g.group}
		for _, c := range r.Cases {
			if t, ok := c.on(k.Name); ok && c.Group == g.group {
				b := barOf(c, t, longest)
				b.Fastest = c.Group == Full && t.Median == r.fastest(k.Name)
				bars.Bars = append(bars.Bars, b)
			}
		}
		if len(bars.Bars) > 0 {
			v.Groups = append(v.Groups, bars)
		}
	}
	return v
}

func barOf(c Case, t Time, longest float64) bar {
	worst := slices.Max(t.Seconds)
	part := func(s float64) string { return fmt.Sprintf("%.2f%%", 100*s/longest) }
	return bar{
		Name: c.Name, Value: seconds(t.Median) + " s", Median: part(t.Median), From: part(t.Best), To: part(worst), Spread: worst > t.Best,
		Title: fmt.Sprintf("%s: median %s s, best %s s, worst %s s", c.Title(), seconds(t.Median), seconds(t.Best), seconds(worst)),
	}
}

// titles are the trees' names as headings.
var titles = map[string]string{
	"one file": "One large file", "photos": "Photos", "mixed": "A mixed tree", "texts": "Small texts",
}

func (k Work) title() string { return cmp.Or(titles[k.Name], k.Name) }

func (k Work) size() string {
	text := k.files()
	if k.Folders > 0 {
		text += fmt.Sprintf(" in %d folders", k.Folders)
	}
	return text + ", " + amount(k.Bytes)
}

func (r Result) tableGroup(group, title string) tableGroup {
	g := tableGroup{Title: title}
	for _, c := range r.Cases {
		if c.Group != group {
			continue
		}
		row := tableRow{Name: c.Name}
		for _, k := range r.Works {
			cell := tableCell{Median: "-"}
			if t, ok := c.on(k.Name); ok {
				cell = tableCell{Median: seconds(t.Median), Fastest: group == Full && t.Median == r.fastest(k.Name)}
				if len(t.Seconds) > 1 {
					cell.Best = seconds(t.Best)
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// lines is the small picture of time over workers. Its plane is 280 by 130, in
// which the axes leave room for their figures.
type lines struct {
	Full, Source string // points of a polyline
	Dots         []dot
	Auto         string // y of what Hourhand chooses by itself, "" if not measured
	Steps        []step // the figures below
	Top          string // the longest time, beside the top of the plane
}

type dot struct{ X, Y, Class string }

type step struct {
	X    string
	Text string
}

const (
	planeLeft, planeRight = 34.0, 272.0
	planeTop, planeBottom = 10.0, 104.0
)

func (r Result) lines(work string) lines {
	var l lines
	top := 0.0
	for _, c := range r.Cases {
		if t, ok := c.on(work); ok && c.Profile == "full" {
			top = max(top, t.Median)
		}
	}
	y := func(s float64) string { return fmt.Sprintf("%.1f", planeBottom-(planeBottom-planeTop)*s/top) }
	points := map[string][]string{}
	for _, c := range r.Cases {
		t, ok := c.on(work)
		switch {
		case !ok || c.Profile != "full":
		case c.Workers == 0 && c.Group == Full:
			l.Auto = y(t.Median)
		case c.Workers > 0:
			x := planeX(c.Workers)
			points[c.Group] = append(points[c.Group], x+","+y(t.Median))
			l.Dots = append(l.Dots, dot{x, y(t.Median), c.Group})
		}
	}
	for _, n := range workerCounts[1:] {
		l.Steps = append(l.Steps, step{planeX(n), fmt.Sprint(n)})
	}
	l.Full, l.Source, l.Top = strings.Join(points[Full], " "), strings.Join(points[Source], " "), seconds(top)+" s"
	return l
}

// planeX puts doublings at the same distance.
func planeX(workers int) string {
	most := math.Log2(float64(workerCounts[len(workerCounts)-1]))
	return fmt.Sprintf("%.1f", planeLeft+10+(planeRight-planeLeft-20)*math.Log2(float64(workers))/most)
}

// ReportName is a name for the file of the page that no other bench has.
func (r Result) ReportName() string {
	return "hourhand-bench-" + r.Started.Format("2006-01-02-150405") + ".html"
}
