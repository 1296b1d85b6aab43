package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hourhand": main})
}

// TestScripts runs testdata/script: the program itself, each script in a folder
// of its own, with its own data folder, home and temporary folder.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"await":     await,
			"until":     until,
			"interrupt": interrupt,
			"fill":      fill,
			"age":       age,
		},
	})
}

type envKey struct{}

func setUpScript(e *testscript.Env) error {
	for _, dir := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(e.WorkDir, dir), 0o700); err != nil {
			return err
		}
	}
	e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
	e.Setenv("TMPDIR", filepath.Join(e.WorkDir, "tmp"))
	e.Setenv("TMP", filepath.Join(e.WorkDir, "tmp"))
	e.Setenv("HOURHAND_DATA", filepath.Join(e.WorkDir, "data"))
	if runtime.GOOS == "windows" {
		e.Setenv("LOCALAPPDATA", filepath.Join(e.WorkDir, "home"))
	}
	e.Values[envKey{}] = e
	return nil
}

// exits CODE COMMAND...: the command ends with exactly this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := exitCode(ts, ts.Exec(args[1], args[2:]...))
	if got != want {
		ts.Fatalf("got exit code %d, want %d", got, want)
	}
}

func exitCode(ts *testscript.TestScript, err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	ts.Check(err)
	return 0
}

// awaitLimit is how long a script waits for what a background command does.
const awaitLimit = 30 * time.Second

// await GLOB [REGEXP]: waits until such a file exists and has such content.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await GLOB [REGEXP]")
	}
	re := regexp.MustCompile("")
	if len(args) > 1 {
		re = regexp.MustCompile(args[1])
	}
	for end := time.Now().Add(awaitLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		names, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil && re.Match(data) {
				return
			}
		}
	}
	ts.Fatalf("%s did not come", args[0])
}

// until REGEXP COMMAND...: repeats the command until it prints that.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND...")
	}
	re := regexp.MustCompile(args[0])
	for end := time.Now().Add(awaitLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if re.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%s was not printed", args[0])
}

// interrupt WHEN CODE COMMAND...: starts the command, interrupts it as Ctrl-C
// does, and expects this exit code. WHEN is a glob: once such a file exists; or
// stdout:REGEXP: once it has printed that.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt WHEN CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	c := exec.Command(args[2], args[3:]...)
	c.Dir = ts.MkAbs(".")
	c.Env = ts.Value(envKey{}).(*testscript.Env).Vars
	printed := &watchedWriter{to: ts.Stdout(), seen: make(chan struct{})}
	c.Stdout, c.Stderr = printed, ts.Stderr()
	text, waitsForText := strings.CutPrefix(args[0], "stdout:")
	if waitsForText {
		printed.want = regexp.MustCompile(text)
	}
	ts.Check(c.Start())
	ts.Defer(func() { c.Process.Kill() }) // if it goes on after a failure
	if !waitsForText {
		await(ts, false, args[:1])
	} else {
		select {
		case <-printed.seen:
		case <-time.After(awaitLimit):
			ts.Fatalf("%s was not printed", text)
		}
	}
	ts.Check(c.Process.Signal(os.Interrupt))
	if got := exitCode(ts, c.Wait()); got != want {
		ts.Fatalf("got exit code %d, want %d", got, want)
	}
}

// watchedWriter closes seen once what it was given matches want.
type watchedWriter struct {
	to   io.Writer
	want *regexp.Regexp // nil: never
	seen chan struct{}
	all  []byte
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	w.all = append(w.all, p...)
	if w.want != nil && w.want.Match(w.all) {
		close(w.seen)
		w.want = nil
	}
	return w.to.Write(p)
}

// fill FILE SIZE: a file of so many bytes that no file system can shrink.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill FILE SIZE")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*i>>7 ^ i*31>>3)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// age FILE...: makes files an hour old, so that stat alone proves them unchanged.
func age(ts *testscript.TestScript, neg bool, args []string) {
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, name := range args {
		ts.Check(os.Chtimes(ts.MkAbs(name), old, old))
	}
}
