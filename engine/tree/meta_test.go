package tree

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair makes a source file and an empty copy of it, opened as the engine does.
func pair(t *testing.T, d *Dir, prepare func(path string)) (dst, src *os.File, in Info) {
	t.Helper()
	write(t, filepath.Join(d.name, "src"), "source")
	prepare(filepath.Join(d.name, "src"))
	src, in, err := d.OpenFile("src")
	must(t, err)
	dst, err = d.Create("dst")
	must(t, err)
	_, err = dst.WriteString("source")
	must(t, err)
	t.Cleanup(func() {
		dst.Close()
		src.Close()
	})
	return dst, src, in
}

func chtime(t *testing.T, mtime time.Time) func(string) {
	return func(path string) {
		t.Helper()
		must(t, os.Chtimes(path, time.Time{}, mtime))
	}
}

func TestSetFileKeepsTimes(t *testing.T) {
	for _, mtime := range []time.Time{
		time.Unix(1_700_000_001, 123_456_700),
		time.Unix(-1, 999_999_900),
		time.Date(1960, 1, 1, 0, 0, 1, 500, time.UTC),
		time.Date(2199, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		t.Run(mtime.String(), func(t *testing.T) {
			d, _ := openTemp(t)
			c, err := Probe(d)
			must(t, err)
			dst, src, in := pair(t, d, chtime(t, mtime))
			lost, err := SetFile(dst, src, in)
			must(t, err)
			now, err := FileInfo(dst)
			must(t, err)
			if lost.Times || !SameMeta(in, now, c) || !sameTime(now.MTime, in.MTime, c.Grain) {
				t.Errorf("got %v, want %v (lost %v)", now.MTime, in.MTime, lost)
			}
		})
	}
}

func TestSetFolderKeepsTimes(t *testing.T) {
	d, path := openTemp(t)
	must(t, d.Mkdir("src"))
	must(t, d.Mkdir("dst"))
	must(t, os.Chtimes(filepath.Join(path, "src"), time.Time{}, time.Unix(1_600_000_001, 500)))
	src, err := d.Sub("src")
	must(t, err)
	defer src.Close()
	dst, err := d.Sub("dst")
	must(t, err)
	defer dst.Close()
	in, err := src.Info()
	must(t, err)
	_, err = SetFolder(dst, src, in)
	must(t, err)
	now, err := dst.Info()
	must(t, err)
	if now.MTime != in.MTime {
		t.Errorf("got %d, want %d", now.MTime, in.MTime)
	}
}

func TestSameMetaLeavesOutWhatAVolumeCannotHold(t *testing.T) {
	src := Info{Kind: File, Mode: 0o6755, UID: 1, GID: 2, MTime: 10_000_000_001}
	all := Caps{Owner: true, Modes: true, Grain: 1}
	for _, c := range []struct {
		name   string
		change func(dst *Info, c *Caps)
		want   bool
	}{
		{"equal", func(*Info, *Caps) {}, true},
		{"owner", func(dst *Info, c *Caps) { dst.UID = 9 }, false},
		{"group", func(dst *Info, c *Caps) { dst.GID = 9 }, false},
		{"mode", func(dst *Info, c *Caps) { dst.Mode = 0o6754 }, false},
		{"time", func(dst *Info, c *Caps) { dst.MTime++ }, false},
		{"time within the grain", func(dst *Info, c *Caps) { dst.MTime--; c.Grain = 2e9 }, true},
		{"time a grain away", func(dst *Info, c *Caps) { dst.MTime -= 2e9; c.Grain = 2e9 }, false},
		{"modes not kept", func(dst *Info, c *Caps) { dst.Mode = 0o777; c.Modes = false }, true},
		{"owner not kept, setuid with it", func(dst *Info, c *Caps) { dst.UID = 9; dst.Mode = 0o2755; c.Owner = false }, true},
		{"owner not kept, setuid kept", func(dst *Info, c *Caps) { dst.UID = 9; c.Owner = false }, false},
		{"mode of a link", func(dst *Info, c *Caps) { dst.Mode = 0o777 }, false},
	} {
		dst, caps := src, all
		c.change(&dst, &caps)
		if got := SameMeta(src, dst, caps); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	src.Kind = Link
	if dst := (Info{Kind: Link, Mode: 0o777, UID: 1, GID: 2, MTime: src.MTime}); !SameMeta(src, dst, all) {
		t.Error("a link's mode counted")
	}
}
