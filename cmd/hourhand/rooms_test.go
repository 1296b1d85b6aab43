package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hourhand/hourhand/"

type roomRule struct {
	room string
	may  string // the rooms that it may import
	why  string
}

// rooms is who may know whom, and why: the table of the README. A room's
// sub-packages belong to it and may import each other.
var rooms = []roomRule{
	{"cmd", "agent agent/tray web engine store static", "wires everything"},
	{"agent/tray", "agent static", "draws the agent's status with the icons of static, and decides nothing"},
	{"web", "agent store static", "shows what the agent does and the store remembers; what a run is, it learns from their types"},
	{"agent", "engine store", "decides when the engine runs, and records it"},
	{"engine", "", "is one run; it knows no job, no schedule, no browser, so that it can be trusted alone"},
	{"store", "", "remembers; what it stores is its own shape, so that the engine may change"},
	{"static", "", "is files"},
}

// roomOf is the room that a package belongs to: the longest that fits.
func roomOf(pkg string) string {
	best := ""
	for _, r := range rooms {
		if (pkg == r.room || strings.HasPrefix(pkg, r.room+"/")) && len(r.room) > len(best) {
			best = r.room
		}
	}
	return best
}

// TestRooms compares what each package imports, on each system and with each
// build tag, with the table.
func TestRooms(t *testing.T) {
	for _, build := range []struct{ goos, tags string }{
		{"linux", ""}, {"linux", "tray"}, {"windows", ""}, {"darwin", ""},
	} {
		for pkg, imports := range listImports(t, build.goos, build.tags) {
			room := roomOf(pkg)
			if room == "" {
				t.Errorf("%s: package %s is in no room", build.goos, pkg)
				continue
			}
			i := slices.IndexFunc(rooms, func(r roomRule) bool { return r.room == room })
			for _, imported := range imports {
				to := roomOf(imported)
				if to != room && !slices.Contains(strings.Fields(rooms[i].may), to) {
					t.Errorf("%s %s: %s imports %s, but room %q may know only %q: it %s",
						build.goos, build.tags, pkg, imported, room, rooms[i].may, rooms[i].why)
				}
			}
		}
	}
}

// listImports is what each of our packages imports of ours, tests aside.
func listImports(t *testing.T, goos, tags string) map[string][]string {
	t.Helper()
	c := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "-tags", tags, "./...")
	c.Dir = "../.."
	c.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, i := range p.Imports {
			if ours, ok := strings.CutPrefix(i, module); ok {
				all[name] = append(all[name], ours)
			}
		}
		if _, ok := all[name]; !ok {
			all[name] = nil
		}
	}
}
