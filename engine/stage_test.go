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

	"github.com/hourhand/hourhand/engine/index"
)

// What ends a run must be told, not that writes in flight were cancelled by it.
func TestReasonOfARunsEndIsToldWhileAFileIsWritten(t *testing.T) {
	w := newWorld(t)
	w.write("a-large", strings.Repeat("0123456789abcdef", 8<<20/16))
	w.write("z/x", "x")
	reason := errors.New("the reason")
	writing, ended := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.m.hook = func(step, path string) error {
		switch {
		case step == "write" && path == "a-large":
			once.Do(func() { close(writing) })
			<-ended
		case step == "list" && path == "z":
			<-writing
			defer close(ended)
			return fmt.Errorf("%w: %w", index.ErrScratch, reason) // as a full data folder
		}
		return nil
	}
	reports, err := Run(context.Background(), w.m, nil)
	if !errors.Is(err, reason) || !errors.Is(reports[0].Err, reason) {
		t.Errorf("the run ended with %v, its report says %v (%s)", err, reports[0].Err, reports[0].Outcome)
	}
}

func TestFullTargetLeavesTheOtherAlone(t *testing.T) {
	for _, at := range []string{"create", "write", "meta", "read back", "rename", "sync"} {
		w := newWorld(t)
		other := filepath.Join(filepath.Dir(w.dst), "other")
		w.mkdir(other)
		w.m.Dests = append(w.m.Dests, Dest{other, OneShot})
		w.write("f", "f")
		var n atomic.Int32
		w.m.hook = func(step, _ string) error {
			if step == at && n.Add(1) == 1 {
				return syscall.ENOSPC
			}
			return nil
		}
		reports, _ := Run(context.Background(), w.m, nil)
		var outcomes []Outcome
		for _, r := range reports {
			outcomes = append(outcomes, r.Outcome)
		}
		if n.Load() == 0 || strings.Count(fmt.Sprint(outcomes), string(Done)) != 1 {
			t.Errorf("%s: got %v, want one of two targets done", at, outcomes)
		}
	}
}

// Whatever was lost between writing and reading back is a mismatch, and tried again.
func TestStagedFileOfAnotherSizeIsAMismatch(t *testing.T) {
	for _, size := range []int{5000, 300 << 10, 3 << 20} {
		for _, change := range []int64{-1000, 1000} {
			w := newWorld(t)
			w.write("f", strings.Repeat("x", size))
			var tries atomic.Int32
			w.m.hook = func(step, _ string) error {
				if step == "read back" && tries.Add(1) == 1 {
					staged, err := filepath.Glob(filepath.Join(w.dst, own, "tmp", "*", "*", "*"))
					w.must(err)
					w.must(os.Truncate(staged[0], int64(size)+change))
				}
				return nil
			}
			w.run(Done)
			w.equal()
			if tries.Load() != 2 {
				t.Errorf("%d bytes, changed by %d: proved %d times, want 2", size, change, tries.Load())
			}
		}
	}
}
