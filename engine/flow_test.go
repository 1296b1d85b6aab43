package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// big writes an incompressible file of the source.
func (w *world) big(path string, size int) {
	w.Helper()
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%016x", uint64(i)*0x9E3779B97F4A7C15)
	}
	w.write(path, b.String()[:size])
}

func TestPauseStopsInTheMiddleOfAFile(t *testing.T) {
	w := newWorld(t)
	w.big("big", 24<<20)
	w.m.Gate = &Gate{}
	var reads atomic.Int64
	paused := make(chan struct{})
	w.m.hook = func(step, path string) error {
		if step == "read" && reads.Add(1) == 8 {
			w.m.Gate.Pause()
			close(paused)
		}
		return nil
	}
	done := make(chan Report)
	go func() { done <- w.run(Done) }()
	<-paused
	before := reads.Load()
	for range 20 { // whoever is in a step finishes it; then nothing more is read
		time.Sleep(5 * time.Millisecond)
		if n := reads.Load(); n != before {
			before = n
		}
	}
	select {
	case <-done:
		t.Fatal("the run went on while paused")
	default:
	}
	if n := reads.Load(); n > 10 {
		t.Errorf("%d chunks read after a pause at the 8th", n)
	}
	if w.exists(w.inCopy("big")) {
		t.Error("a half file has its real name")
	}
	w.m.Gate.Resume()
	<-done
	w.equal()
}

func TestCancelLeavesNothingHalf(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 6
	w.many("d", 50)
	w.run(Done)
	w.big("big", 16<<20)
	w.later("d/f0001", "changed")
	ctx, cancel := context.WithCancelCause(context.Background())
	var reads atomic.Int64
	w.m.hook = func(step, path string) error {
		if step == "read" && reads.Add(1) == 9 {
			cancel(errors.New("by hand"))
		}
		return nil
	}
	reports, err := Run(ctx, w.m, nil)
	if !errors.Is(err, context.Canceled) || reports[0].Outcome != Cancelled || reports[0].Removed.Files > 0 {
		t.Fatalf("error %v, report %+v; want cancelled", err, reports[0])
	}
	if w.exists(w.inCopy("big")) {
		t.Error("a half file has its real name")
	}
	if _, err := os.Stat(filepath.Join(w.dst, own, "tmp")); err == nil {
		t.Error("staged files stay after a cancel")
	}
	if st := w.state(); st.Content == Sealed && st.RunID == reports[0].RunID || st.LastRun.Outcome != Cancelled {
		t.Errorf("state %+v; want an hour that does not look fresh", st)
	}
	w.m.hook = nil
	w.run(Done)
	w.equal()
}

func TestLimitHoldsForAllWorkersTogether(t *testing.T) {
	w := newWorld(t)
	w.m.Gate = &Gate{}
	w.m.Gate.SetLimit(40 << 20)
	w.m.Workers = 4
	for i := range 8 {
		w.big(fmt.Sprint(i), 2<<20)
	}
	began := time.Now()
	w.run(Done)
	// 16 MiB at 40 MiB/s less the first chunk, which is free: a bound from below
	// holds on any machine
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("16 MiB at 40 MiB/s took %v", took)
	}
}

func TestProgressEndsAtItsTotals(t *testing.T) {
	w := newWorld(t)
	w.many("d", 40)
	w.big("big", 3<<20)
	var mu sync.Mutex
	var last Progress
	_, err := Run(context.Background(), w.m, func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.FilesDone < last.FilesDone || p.CopyDone < last.CopyDone {
			t.Errorf("progress goes back: %+v after %+v", p, last)
		}
		last = p
	})
	w.must(err)
	if last.FilesDone != 41 || last.FilesTotal != 41 || last.CopyDone != last.CopyTotal || !last.TotalsKnown {
		t.Errorf("last progress %+v; want 41 of 41 files and all bytes", last)
	}
}

// rclone#1250: a file that is written while it is read
func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for _, hadCopy := range []bool{false, true} {
		t.Run(fmt.Sprint("had a copy: ", hadCopy), func(t *testing.T) {
			w := newWorld(t)
			w.write("calm", "calm")
			if hadCopy {
				w.write("live.log", "old copy")
				w.run(Done)
			}
			w.later("live.log", "line 1\n")
			n := 0
			w.m.hook = func(step, path string) error {
				if step == "meta" && path == "live.log" {
					n++
					f, err := os.OpenFile(filepath.Join(w.src, path), os.O_APPEND|os.O_WRONLY, 0)
					w.must(err)
					fmt.Fprintf(f, "line %d\n", n+1)
					w.must(f.Close())
				}
				return nil
			}
			r := w.run(Partial)
			if n != readings || r.ProblemCount != 1 || r.Problems[0].Cause != CauseChanged {
				t.Errorf("%d readings, problems %v; want %d and one problem", n, r.Problems, readings)
			}
			got := w.read(w.inCopy("live.log"))
			if hadCopy && got != "old copy" {
				t.Errorf("copy is %q, want the old one", got)
			}
			if !hadCopy && got != "line 1\nline 2\nline 3\n" {
				t.Errorf("copy is %q, want the last reading", got)
			}
			w.proven()
			w.m.hook = nil
			w.run(Done)
			w.equal()
		})
	}
}

func TestFileThatVanishesIsNoTroubleForOthers(t *testing.T) {
	w := newWorld(t)
	w.many("d", 10)
	w.m.hook = func(step, path string) error {
		if step == "stat" && path == "d/f0003" {
			os.Remove(filepath.Join(w.src, path))
		}
		return nil
	}
	w.m.Retries = -1
	r := w.run(Done)
	if r.Copied.Files != 9 {
		t.Errorf("copied %d, want 9", r.Copied.Files)
	}
	w.m.hook = nil
	w.run(Done)
	w.equal()
}

func TestOnlyTransientErrorsAreRetried(t *testing.T) {
	for err, want := range map[syscall.Errno]int64{syscall.EBUSY: 3, syscall.EIO: 1, syscall.EACCES: 1} {
		w := newWorld(t)
		w.write("x", "x")
		w.write("y", "y")
		var tries atomic.Int64
		w.m.hook = func(step, path string) error {
			if step == "open" && path == "x" {
				tries.Add(1)
				return err
			}
			return nil
		}
		r := w.run(Partial)
		if tries.Load() != want || r.Copied.Files != 1 {
			t.Errorf("%v: %d tries, %d copied; want %d and 1", err, tries.Load(), r.Copied.Files, want)
		}
	}
	w := newWorld(t)
	w.write("x", "x")
	var tries atomic.Int64
	w.m.hook = func(step, path string) error {
		if step == "open" && tries.Add(1) < 3 {
			return syscall.EBUSY
		}
		return nil
	}
	w.run(Done)
	w.equal()
}

// a drive that loses bytes: what is read back differs from what was written
func TestWrongBytesReadBackAreNeverPublished(t *testing.T) {
	w := newWorld(t)
	w.write("x", "old copy")
	w.write("y", "y")
	w.run(Done)
	w.later("x", "new bytes")
	var tries atomic.Int64
	w.m.hook = func(step, path string) error {
		if step == "read back" && path == "x" {
			tries.Add(1)
			w.spoilStaged("new bytes", "NEW BYTES")
		}
		return nil
	}
	r := w.run(Partial)
	if r.Problems[0].Cause != CauseMismatch || !errors.Is(r.Err, ErrMismatch) || tries.Load() != 3 {
		t.Errorf("problems %v, error %v, %d tries; want a mismatch after 3", r.Problems, r.Err, tries.Load())
	}
	if got := w.read(w.inCopy("x")); got != "old copy" {
		t.Errorf("copy is %q, want the old one", got)
	}
	w.m.hook = nil
	w.run(Done)
	w.equal()
}

// spoilStaged changes the staged file with some bytes.
func (w *world) spoilStaged(have, put string) {
	filepath.WalkDir(filepath.Join(w.dst, own, "tmp"), func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && w.read(p) == have {
			w.must(os.WriteFile(p, []byte(put), 0o600))
		}
		return nil
	})
}

func TestSyncErrorEndsTheRunAndNothingIsPublished(t *testing.T) {
	w := newWorld(t)
	w.write("x", "old")
	w.run(Done)
	w.later("x", "new")
	w.write("y", "y")
	w.m.hook = func(step, path string) error {
		if step == "sync" {
			return syscall.EIO
		}
		return nil
	}
	r := w.run(Failed)
	if !errors.Is(r.Err, ErrLost) {
		t.Errorf("error %v, want ErrLost", r.Err)
	}
	if w.read(w.inCopy("x")) != "old" || w.exists(w.inCopy("y")) {
		t.Error("something was published after a failed sync")
	}
	w.m.hook = nil
	w.run(Done)
	w.equal()
}

func TestFullTargetKeepsTheOldCopies(t *testing.T) {
	w := newWorld(t)
	w.write("x", "old")
	w.run(Done)
	w.later("x", "new")
	w.m.hook = func(step, path string) error {
		if step == "write" {
			return syscall.ENOSPC
		}
		return nil
	}
	r := w.run(Failed)
	if !errors.Is(r.Err, ErrNoSpace) || w.read(w.inCopy("x")) != "old" {
		t.Errorf("error %v, copy %q", r.Err, w.read(w.inCopy("x")))
	}
	w.m.hook = nil
	w.run(Done)
	w.equal()
}

func TestSparseFileStaysSparse(t *testing.T) {
	w := newWorld(t)
	p := filepath.Join(w.src, "sparse")
	f, err := os.Create(p)
	w.must(err)
	_, err = f.WriteAt([]byte("far away"), 64<<20)
	w.must(err)
	w.must(f.Close())
	w.must(os.Chtimes(p, old, old))
	w.run(Done)
	w.equal()
	if a, b := allocated(t, p), allocated(t, w.inCopy("sparse")); b > a+1<<20 {
		t.Errorf("copy takes %d bytes, source %d", b, a)
	}
}

func TestPreviewTellsWhatARunWouldDo(t *testing.T) {
	w := newWorld(t)
	w.m.Dests[0].Hour = 14
	w.write("same", "same")
	w.write("grows", "12")
	w.write("goes", "goes")
	w.run(Done)
	w.later("grows", "123")
	w.write("d/new", "new")
	w.remove("goes")
	w.must(os.WriteFile(w.inCopy("mine"), nil, 0o644))
	before := describe(t, w.dst)
	got := map[string]string{}
	plan, err := Preview(context.Background(), w.m, func(i Item) { got[i.Op+" "+i.Path] = i.Reason })
	w.must(err)
	for item, reason := range map[string]string{
		"add d/": "new folder", "add d/new": "new", "replace grows": "size 2 -> 3", "remove goes": "not in the source",
		"remove mine": "not in the source, and not Hourhand's: goes to .hourhand/found",
	} {
		if got[item] != reason {
			t.Errorf("%s: reason %q, want %q", item, got[item], reason)
		}
	}
	if plan.Add != (Count{1, 3}) || plan.Replace != (Count{1, 3}) || plan.Remove.Files != 2 {
		t.Errorf("plan %+v", plan)
	}
	if after := describe(t, w.dst); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Error("a preview changed the target")
	}
	w.m.Dests[0] = Dest{filepath.Join(w.dst, "..", "not yet"), OneShot}
	w.m.MakeDest = true
	plan, err = Preview(context.Background(), w.m, nil)
	w.must(err)
	if plan.Add.Files != 3 {
		t.Errorf("plan for a target that is not made yet: %+v", plan)
	}
}

// restic#3412: a drive that rots must not spread it
func TestRotOfTheSourceIsNotSpread(t *testing.T) {
	w := newWorld(t)
	w.write("x", "good bytes")
	w.write("y", "y")
	w.run(Done)
	e := w.index()["x"]
	w.must(os.WriteFile(filepath.Join(w.src, "x"), []byte("BAD bytes!"), 0o644))
	w.must(os.Chtimes(filepath.Join(w.src, "x"), old, old))
	info, err := tree.Open(w.src)
	w.must(err)
	defer info.Close()
	now, err := info.Stat("x")
	w.must(err)
	e.Source.CTime = now.CTime // as if no write had ever been told
	w.rewriteIndex("x", e)
	w.m.Checksum = true
	r := w.run(Partial)
	if r.ProblemCount != 1 || r.Problems[0].Cause != CauseRot || w.read(w.inCopy("x")) != "good bytes" {
		t.Errorf("problems %v, copy %q; want rot told and the good copy kept", r.Problems, w.read(w.inCopy("x")))
	}
	w.later("x", "accepted")
	w.run(Done)
	w.equal()
}

func TestTargetsOwnFolderInTheSourceIsLeftOut(t *testing.T) {
	w := newWorld(t)
	w.write(own+"/x", "x")
	w.write("d/"+own+"/y", "further down it is an ordinary name")
	w.run(Done)
	if w.exists(w.inCopy(own+"/x")) || !w.exists(w.inCopy("d/"+own+"/y")) {
		t.Errorf("copy holds %v", contents(t, w.copy()))
	}
}

func TestHourLeavesItsSiblingsAlone(t *testing.T) {
	w := newWorld(t)
	w.many("d", 20)
	w.m.Dests[0].Hour = 1
	w.run(Done)
	first := describe(t, w.copy())
	w.later("d/f0001", "changed")
	w.remove("d/f0002")
	w.m.Dests[0].Hour = 2
	w.run(Done)
	w.equal()
	w.m.Dests[0].Hour = 1
	if now := describe(t, w.copy()); fmt.Sprint(now) != fmt.Sprint(first) {
		t.Error("writing hour 02 changed hour 01")
	}
}

func TestTimesBefore1970AndFarAhead(t *testing.T) {
	w := newWorld(t)
	for i, at := range []time.Time{time.Unix(-1, 0), time.Unix(-315619200, 5), time.Unix(4102444800, 999999999)} {
		p := fmt.Sprint("t", i)
		w.write(p, p)
		w.must(os.Chtimes(filepath.Join(w.src, p), at, at))
	}
	w.run(Done)
	w.equal()
	w.run(Done)
	w.equal()
}

func TestTrustIndexDoesNotLookAtTheTarget(t *testing.T) {
	w := newWorld(t)
	w.many("d", 10)
	w.run(Done)
	w.m.TrustIndex = true
	looks := 0
	w.m.hook = func(step, path string) error {
		if step == "list copy" || step == "stat copy" {
			looks++
		}
		return nil
	}
	w.later("d/f0003", "changed")
	w.remove("d/f0004")
	r := w.run(Done)
	if looks > 0 || r.Updated.Files != 1 || r.Removed.Files != 1 || r.Unchanged.Files != 8 {
		t.Errorf("%d looks at the target, report %+v", looks, r)
	}
	w.m.hook = nil
	w.equal()
}
