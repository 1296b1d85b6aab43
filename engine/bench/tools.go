package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// tool is a program that people copy trees with.
type tool struct {
	name    string
	args    []string           // before the source and the copy
	paths   func(job) []string // the source and the copy as this tool wants them; nil: as they are
	after   []string           // after them
	system  func(goos string) bool
	success func(code int) bool // nil: 0
}

func onWindows(goos string) bool { return goos == "windows" }
func elsewhere(goos string) bool { return !onWindows(goos) }
func everywhere(string) bool     { return true }

// tools with the switches that their users take for "an exact copy". cp must not
// clone blocks, which copies nothing (GNU; others do not without being told).
var tools = []tool{
	{name: "cp", args: []string{"-a"}, system: elsewhere},
	{name: "rsync", args: []string{"-aHAX"}, system: elsewhere,
		paths: func(j job) []string { return []string{j.from + string(filepath.Separator), j.to} }},
	{name: "robocopy", after: []string{"/E", "/COPY:DAT", "/DCOPY:DAT", "/R:0", "/W:0", "/MT:8", "/NFL", "/NDL", "/NJH", "/NJS", "/NP"}, system: onWindows,
		success: func(code int) bool { return code >= 0 && code < 8 }}, // 8 and above: some file failed
	{name: "xcopy", after: []string{"/E", "/I", "/H", "/K", "/Y", "/Q"}, system: onWindows},
	{name: "rclone", args: []string{"copy", "--quiet"}, system: everywhere},
}

// find is the case of a tool of this system, or why there is none.
func (t tool) find() (runner, error) {
	path, err := exec.LookPath(t.name)
	if err != nil {
		return runner{}, fmt.Errorf("%s: not installed", t.name)
	}
	if t.name == "cp" && exec.Command(path, "--reflink=never", "--version").Run() == nil {
		t.args = slices.Concat(t.args, []string{"--reflink=never"})
	}
	name := strings.Join(append([]string{t.name}, t.args[:min(1, len(t.args))]...), " ")
	return runner{Case{Group: Tools, Name: name}, thenFlush(func(ctx context.Context, j job) error {
		return t.run(ctx, path, j)
	})}, nil
}

// toolGrace is how long a tool that is to stop may take to remove its temporary
// files and end its helpers.
const toolGrace = 3 * time.Second

func (t tool) run(ctx context.Context, path string, j job) error {
	paths := []string{j.from, j.to}
	if t.paths != nil {
		paths = t.paths(j)
	}
	var said bytes.Buffer
	c := exec.CommandContext(ctx, path, slices.Concat(t.args, paths, t.after)...)
	c.Stderr = &said
	c.WaitDelay = toolGrace
	c.Cancel = func() error {
		if runtime.GOOS == "windows" { // which has no signal for one process
			return c.Process.Kill()
		}
		return c.Process.Signal(os.Interrupt)
	}
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && t.success != nil && t.success(exit.ExitCode()) {
		err = nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(said.String()))
	}
	return nil
}

// lastLine is where tools say what was wrong, cut to what a person reads.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := []rune(strings.ToValidUTF8(lines[len(lines)-1], "?"))
	return string(line[:min(len(line), 200)])
}
