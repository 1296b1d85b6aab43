package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
)

// errDeath ends a run at a step as a killed process would: nothing is cleaned
// up on disk beyond what the engine does on its way out of errors.
var errDeath = errors.New("end here")

// crashWorld has a sealed hour and a source that adds, replaces, swaps kinds and
// removes since.
func crashWorld(t testing.TB) *world {
	w := newWorld(t)
	w.m.Yes = true
	w.m.Workers = 2
	w.m.Dests[0].Hour = 14
	w.many("stays", 10)
	w.many("goes", 6)
	w.many("changes", 6)
	w.write("file to folder", "file")
	w.write("folder to file/x", "x")
	w.write("linked", "linked")
	w.must(os.Link(filepath.Join(w.src, "linked"), filepath.Join(w.src, "stays/linked too")))
	w.run(Done)
	w.remove("goes")
	for i := range 6 {
		w.later(fmt.Sprintf("changes/f%04d", i), "changed")
	}
	w.many("new", 6)
	w.remove("file to folder")
	w.write("file to folder/x", "now a folder")
	w.remove("folder to file")
	w.write("folder to file", "now a file")
	w.must(os.Link(filepath.Join(w.src, "linked"), filepath.Join(w.src, "new/linked three")))
	return w
}

// TestProcessKilledAtEveryStep kills a process of its own at each step of a
// run: every name in the copy must hold its old or its new bytes, a
// verification must not call it rot, and the next run must converge.
func TestProcessKilledAtEveryStep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SIGKILL is Unix'; the steps are the same on Windows")
	}
	first, every := someSteps(t, 13)
	for n := first; ; n += every {
		w := crashWorld(t)
		old, fresh := contents(t, w.copy()), contents(t, w.src)
		if !w.killedAt(n) {
			if n < 50 {
				t.Fatalf("the run ended after %d steps: the hook sees too little", n)
			}
			w.equal()
			return
		}
		checkOldOrNew(t, n, contents(t, w.copy()), old, fresh)
		audit, err := Verify(context.Background(), Hour{Dest: w.m.Dests[0]}, nil)
		if err != nil || audit.Rot+audit.Missing+audit.Edited > 0 {
			t.Errorf("step %d: verify says %v, %+v", n, err, audit)
		}
		w.run(Done)
		w.equal()
		if len(w.found()) > 0 {
			t.Errorf("step %d: our own files were put aside: %v", n, w.found())
		}
		if t.Failed() {
			t.Fatalf("killed at step %d", n)
		}
	}
}

// killedAt runs the world in a process that kills itself at step n. false: it
// ended before.
func (w *world) killedAt(n int) bool {
	w.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChildThatDies$")
	cmd.Env = append(os.Environ(), "HOURHAND_DIE="+strconv.Itoa(n), "HOURHAND_SRC="+w.src, "HOURHAND_DST="+w.dst, "HOURHAND_SCRATCH="+w.m.Scratch)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return true
	}
	if err != nil {
		w.Fatalf("child: %v\n%s", err, out)
	}
	return false
}

// TestChildThatDies is the process that TestProcessKilledAtEveryStep kills.
func TestChildThatDies(t *testing.T) {
	die, _ := strconv.ParseInt(os.Getenv("HOURHAND_DIE"), 10, 64)
	if die == 0 {
		return // not asked
	}
	var steps atomic.Int64
	m := Mirror{
		Source: os.Getenv("HOURHAND_SRC"), Dests: []Dest{{os.Getenv("HOURHAND_DST"), 14}}, Scratch: os.Getenv("HOURHAND_SCRATCH"), Yes: true, Workers: 2,
		hook: func(string, string) error {
			if steps.Add(1) == die {
				p, _ := os.FindProcess(os.Getpid())
				p.Kill()
				select {}
			}
			return nil
		},
	}
	if _, err := Run(context.Background(), m, nil); err != nil {
		t.Fatal(err)
	}
}

// someSteps chooses the steps to try: every few, from a random one, so that all
// are met in time; with HOURHAND_THOROUGH set, all.
func someSteps(t *testing.T, few int) (first, every int) {
	if os.Getenv("HOURHAND_THOROUGH") != "" {
		return 1, 1
	}
	first = 1 + rand.IntN(few)
	t.Logf("steps from %d, every %d", first, few)
	return first, few
}

// contents maps each regular file of a tree to its bytes.
func contents(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
			return nil
		}
		if e.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Error(err)
			}
			rel, _ := filepath.Rel(root, p)
			all[rel] = string(data)
		}
		return nil
	})
	return all
}

func checkOldOrNew(t *testing.T, n int, have, old, fresh map[string]string) {
	t.Helper()
	for path, data := range have {
		o, wasThere := old[path]
		f, willBe := fresh[path]
		if !(wasThere && data == o) && !(willBe && data == f) {
			t.Errorf("step %d: %q holds %q, neither old nor new", n, path, data)
		}
	}
	for path, data := range old {
		if _, there := have[path]; !there && fresh[path] == data {
			t.Errorf("step %d: %q is gone although it does not change", n, path)
		}
	}
}

// TestEveryStepThatFails fails each step of a run, once and from there on: no
// name may hold anything but its old or its new bytes, a run with a difference
// is not done, and the next clean run converges.
func TestEveryStepThatFails(t *testing.T) {
	first, every := someSteps(t, 17)
	for n := first; ; n += every {
		for _, forever := range []bool{false, true} {
			w := crashWorld(t)
			old, fresh := contents(t, w.copy()), contents(t, w.src)
			var steps atomic.Int64
			w.m.hook = func(string, string) error {
				if s := steps.Add(1); s == int64(n) || forever && s > int64(n) {
					return errDeath
				}
				return nil
			}
			reports, err := Run(context.Background(), w.m, nil)
			if steps.Load() < int64(n) {
				if n < 50 {
					t.Fatalf("the run ended after %d steps", n)
				}
				return
			}
			checkOldOrNew(t, n, contents(t, w.copy()), old, fresh)
			if reports[0].Outcome == Done {
				w.equal()
			}
			w.m.hook = nil
			w.run(Done)
			w.equal()
			if t.Failed() {
				t.Fatalf("step %d, forever %v, error %v", n, forever, err)
			}
		}
	}
}
