package bench

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// groupTitles head the groups of cases, in the order of the table.
var groupTitles = []struct{ group, title, short string }{
	{Plain, "plain copies", "Plain copies"},
	{Tools, "tools that were found", "Tools found"},
	{Full, "hourhand, every file read back (--verify full)", "Hourhand, every file read back"},
	{Source, "hourhand, hashed while read (--verify source)", "Hourhand, only hashed while read"},
}

// The table fits in 80 columns with four trees.
const (
	nameWidth = 24
	cellWidth = 14
)

// Table writes the times for a terminal, the fastest verified ones marked, then
// what a reader must know about them, and the advice.
func (r Result) Table(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "seconds until the copy is durable: %s\n\n", r.what())
	r.heads(b)
	for _, g := range groupTitles {
		r.group(b, g.group, g.title)
	}
	fmt.Fprintln(b, "\n* the fastest verified copy of this tree. Profiles find the number of workers by\n  themselves; the fixed numbers ran with profile full.")
	for _, line := range r.Conditions() {
		fmt.Fprintln(b, wrap(line, "  "))
	}
	for _, text := range []string{r.Advice.Warning, strings.TrimPrefix(r.Advice.Text, r.Advice.Warning)} {
		if text != "" {
			fmt.Fprintf(b, "\n%s\n", wrap(text, ""))
		}
	}
	return b.Flush()
}

// what says what a number is.
func (r Result) what() string {
	switch r.Rounds {
	case 1:
		return "one round, a first impression"
	default:
		return fmt.Sprintf("median of %d rounds (best)", r.Rounds)
	}
}

func (r Result) heads(w io.Writer) {
	var names, counts, sizes strings.Builder
	for _, k := range r.Works {
		fmt.Fprintf(&names, "%*s", cellWidth, k.Name)
		fmt.Fprintf(&counts, "%*s", cellWidth, k.files())
		fmt.Fprintf(&sizes, "%*s", cellWidth, amount(k.Bytes))
	}
	for _, line := range []string{names.String(), counts.String(), sizes.String()} {
		fmt.Fprintf(w, "%*s%s\n", nameWidth, "", line)
	}
}

func (k Work) files() string {
	if k.Files == 1 {
		return "1 file"
	}
	return humanize.Comma(k.Files) + " files"
}

func (r Result) group(w io.Writer, group, title string) {
	begun := false
	for _, c := range r.Cases {
		if c.Group != group {
			continue
		}
		if !begun {
			fmt.Fprintln(w, title)
			begun = true
		}
		fmt.Fprintf(w, "  %-*s", nameWidth-2, c.Name)
		for _, k := range r.Works {
			fmt.Fprintf(w, "%*s", cellWidth, r.cell(c, k.Name))
		}
		fmt.Fprintln(w)
	}
}

func (r Result) cell(c Case, work string) string {
	t, ok := c.on(work)
	if !ok {
		return "-"
	}
	mark := ""
	if c.Group == Full && t.Median == r.fastest(work) {
		mark = "*"
	}
	if len(t.Seconds) == 1 {
		return mark + seconds(t.Median)
	}
	return fmt.Sprintf("%s%s (%s)", mark, seconds(t.Median), seconds(t.Best))
}

// seconds in three digits, as exact as rounds agree.
func seconds(s float64) string {
	switch {
	case s < 10:
		return fmt.Sprintf("%.2f", s)
	case s < 100:
		return fmt.Sprintf("%.1f", s)
	}
	return fmt.Sprintf("%.0f", s)
}

// Conditions are what a reader must know to judge the times: a sentence each.
func (r Result) Conditions() []string {
	lines := []string{r.drives(), "The source was " + r.Cold + "."}
	if v := r.Verified; v.Device.Files+v.Cache.Files+v.Server.Files > 0 {
		all := v.Device.Bytes + v.Cache.Bytes + v.Server.Bytes + v.Source.Bytes
		lines = append(lines, fmt.Sprintf("Of what was read back, %.0f %% came from the device itself, past the system's cache.",
			100*float64(v.Device.Bytes)/float64(max(all, 1))))
	}
	if len(r.LeftOut) > 0 {
		lines = append(lines, "Left out: "+strings.Join(r.LeftOut, "; ")+".")
	}
	for _, n := range r.Notes {
		lines = append(lines, "Note: "+n+".")
	}
	return append(lines, fmt.Sprintf("Measured %s in %s, on %s.",
		r.Started.Format("2006-01-02 15:04"), r.Ended.Sub(r.Started).Round(time.Second), r.System))
}

func (r Result) drives() string {
	if r.Source.Folder == r.Target.Folder || r.Same {
		return fmt.Sprintf("Source and copy lie on the same drive, %s: a copy to a second drive may be faster.", r.Target)
	}
	return fmt.Sprintf("From %s to %s.", r.Source, r.Target)
}

// String names the drive: "/mnt/usb (exfat, solid)".
func (d Drive) String() string {
	kind := d.FileSystem
	if d.Medium != "" {
		kind += ", " + d.Medium
	}
	if kind == "" {
		return d.Folder
	}
	return d.Folder + " (" + kind + ")"
}

// wrap breaks text at spaces into lines of at most 80 columns.
func wrap(text, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0 || column+1+n > 80:
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(indent)
			column = len(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
