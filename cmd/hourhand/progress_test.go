package main

import (
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
)

func TestProgressLine(t *testing.T) {
	pace := engine.Pace{Share: 0.4, Yielded: "others, who read 48 MB/s from the source's drive"}
	for _, c := range []struct {
		p    engine.Progress
		want string
	}{
		{engine.Progress{}, "starting 0 files"},
		{engine.Progress{Phase: "copying", FilesDone: 3, FilesTotal: 1200, TotalsKnown: true}, "copying 3 of 1,200 files"},
		{engine.Progress{Phase: "copying", FilesDone: 3, Pace: pace}, "copying 3 files, giving way"},
		{engine.Progress{Phase: "copying", FilesDone: 3, Pace: engine.Pace{Share: 0.95}}, "copying 3 files"},
		{engine.Progress{Phase: "copying", FilesDone: 3, Pace: pace, Paused: true}, "paused while copying 3 files"},
	} {
		if got := barText(c.p); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.p, got, c.want)
		}
	}
}

func TestProgressTellsScriptsThePace(t *testing.T) {
	var b strings.Builder
	newJSONProgress(&b, time.Now).show(engine.Progress{Pace: engine.Pace{Share: 0.4, Flying: 2, Others: 48e6, Yielded: "others"}})
	if want := `"pace":{"share":0.4,"flying":2,"others":48000000,"yielded":"others"}`; !strings.Contains(b.String(), want) {
		t.Errorf("got %s, want it to hold %s", b.String(), want)
	}
	b.Reset()
	newJSONProgress(&b, time.Now).show(engine.Progress{})
	if strings.Contains(b.String(), "pace") {
		t.Errorf("got %s, want no pace without a governor", b.String())
	}
}
