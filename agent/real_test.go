package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// This file has no play: agent, engine and store together, on real folders.

func realAgent(t *testing.T, data string) *Agent {
	t.Helper()
	s, err := store.Open(store.Config{Dir: data, Board: BoardOf, WasSealed: WasSealed})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{Store: s, Scratch: t.TempDir(), ByHand: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, s.Close()); err != nil {
			t.Error(err)
		}
	})
	return a
}

func writeFiles(t *testing.T, dir string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file %03d", i)), fmt.Append(nil, "content ", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJobForReal(t *testing.T) {
	source, target := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	writeFiles(t, source, 0, 100)
	a := realAgent(t, t.TempDir())
	j, _, err := a.SaveJob(store.Job{Name: "Photos", Source: source, Target: target})
	if err != nil {
		t.Fatal(err)
	}
	ended := func(id string, err error) store.Run {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Wait(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}

	first := ended(a.Start("Photos", 14))
	if first.Outcome != store.Done || first.Copied.Files != 100 || !first.Sealed {
		t.Fatalf("first run: %+v", first)
	}
	if got, err := os.ReadFile(filepath.Join(target, "14", "file 042")); err != nil || string(got) != "content 42" {
		t.Errorf("the copy holds %q, %v", got, err)
	}
	if h := a.Status().Jobs[0].Board[14]; h.Content != "sealed" || h.SealedBy != first.ID || h.Files.Files != 100 {
		t.Errorf("board: %+v", h)
	}
	if run, err := a.config.Store.Indexed(j.ID, 14); err != nil || run != first.ID {
		t.Errorf("file index stands for %q, %v", run, err)
	}
	if h, ok := WasSealed(j, first); !ok || h.SealedBy != first.ID {
		t.Errorf("WasSealed: %+v, %v", h, ok)
	}
	if _, ok := WasSealed(j, store.Run{ID: "another", Hour: 14}); ok {
		t.Error("another run was taken for the one that sealed")
	}

	fill := ended(a.Fill(j.ID, []int{3, 4}))
	board, err := BoardOf(j)
	if err != nil || fill.Outcome != store.Done || board[3].Content != "sealed" || board[4].Content != "sealed" {
		t.Errorf("fill: %+v, board %+v %+v, %v", fill, board[3], board[4], err)
	}
	if h, ok := WasSealed(j, store.Run{ID: recordID(fill.ID, 1, 4), Hour: 4}); !ok || h.SealedBy != recordID(fill.ID, 1, 4) {
		t.Errorf("WasSealed of a fill's second hour: %+v, %v", h, ok)
	}

	for i := range 70 {
		if err := os.Remove(filepath.Join(source, fmt.Sprintf("file %03d", i))); err != nil {
			t.Fatal(err)
		}
	}
	held := ended(a.Start(j.ID, 14))
	if held.Outcome != store.Held || held.Cause != CauseHeld || a.Status().Jobs[0].Plan == nil {
		t.Fatalf("70 of 100 files are gone: %+v", held)
	}
	approved := ended(a.Approve(j.ID, a.Status().Jobs[0].Plan.ID))
	if approved.Outcome != store.Done || approved.Removed.Files != 70 || approved.Hour != 14 {
		t.Errorf("approved: %+v", approved)
	}

	verified := ended(a.Verify(j.ID, nil, false))
	if verified.Outcome != store.Done || verified.Hour != 14 || verified.Unchanged.Files != 30 {
		t.Errorf("verified: %+v", verified)
	}
	rotten := filepath.Join(target, "14", "file 080")
	info, err := os.Stat(rotten)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(rotten, []byte("CONTENT 80"), 0o600), os.Chtimes(rotten, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	if got := ended(a.Verify(j.ID, []int{14}, false)); got.Cause != CauseMismatch || a.Status().Jobs[0].State != Failed {
		t.Errorf("rot: %+v, state %q", got, a.Status().Jobs[0].State)
	}
	if got := ended(a.Verify(j.ID, []int{14}, true)); got.Outcome != store.Done || a.Status().Jobs[0].State != Idle || a.Status().Jobs[0].Board[14].Outcome != store.Done {
		t.Errorf("healed: %+v, state %q, board %+v", got, a.Status().Jobs[0].State, a.Status().Jobs[0].Board[14])
	}
	if id, err := a.Verify(j.ID, []int{7}, false); len(FieldErrors(err)) != 1 {
		t.Errorf("verification of an hour without a copy: %q, %v", id, err)
	}
	if err := os.WriteFile(filepath.Join(target, "14", "file 090"), []byte("edited!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ended(a.Verify(j.ID, []int{14}, false)); got.Outcome != store.Partial || got.Cause != CauseEdited {
		t.Errorf("edited: %+v", got)
	}
	if err := os.RemoveAll(target); err != nil {
		t.Fatal(err)
	}
	if got := ended(a.Start(j.ID, 14)); got.Outcome != store.Skipped || got.Cause != CauseNoTarget {
		t.Errorf("target gone: %+v", got)
	}
}

func TestDatabaseLostForReal(t *testing.T) {
	source, target, data := t.TempDir(), filepath.Join(t.TempDir(), "copies"), t.TempDir()
	writeFiles(t, source, 0, 10)
	var j store.Job
	var sealed string
	t.Run("before", func(t *testing.T) {
		a := realAgent(t, data)
		var err error
		if j, _, err = a.SaveJob(store.Job{Name: "Photos", Source: source, Target: target}); err != nil {
			t.Fatal(err)
		}
		if sealed, err = a.Start(j.ID, 7); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Wait(t.Context(), sealed); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.Truncate(filepath.Join(data, "hourhand.db"), 5000); err != nil {
		t.Fatal(err)
	}
	a := realAgent(t, data)
	s := a.Status()
	if s.Notice == "" || len(s.Jobs) != 1 || s.Jobs[0].Job.ID != j.ID {
		t.Fatalf("notice %q, jobs %+v", s.Notice, s.Jobs)
	}
	if h := s.Jobs[0].Board[7]; h.Content != string(engine.Sealed) || h.SealedBy != sealed {
		t.Errorf("board: %+v", h)
	}
}
