package governor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

func TestSlotsAreGivenInTheOrderOfAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s slots
		var mu sync.Mutex
		var order []int
		for i := range 5 {
			go func() {
				if s.take(t.Context()) == nil {
					mu.Lock()
					order = append(order, i)
					mu.Unlock()
				}
			}()
			synctest.Wait()
		}
		if len(order) != 0 {
			t.Fatalf("got %v without a slot", order)
		}
		s.resize(2)
		synctest.Wait()
		for range 3 {
			s.give()
			synctest.Wait()
		}
		slices.Sort(order[:2]) // these two may run in any order
		if want := []int{0, 1, 2, 3, 4}; !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
	})
}

func TestGivingUpLosesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s slots
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- s.take(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		s.resize(1)
		if err := s.take(t.Context()); err != nil {
			t.Errorf("got %v, want the slot", err)
		}
	})
}

func TestDrainedWaitsForTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s slots
		s.resize(2)
		_, _ = s.take(t.Context()), s.take(t.Context())
		s.resize(0)
		drained := make(chan bool, 1)
		go func() { drained <- s.drained(t.Context()) }()
		s.give()
		synctest.Wait()
		if len(drained) > 0 {
			t.Fatal("drained with a slot in use")
		}
		s.give()
		if !<-drained {
			t.Error("got false, want true")
		}
		if got := s.peak(); got != 2 {
			t.Errorf("got a peak of %d, want 2", got)
		}
	})
}

func BenchmarkStep(b *testing.B) {
	g := New(Options{})
	defer g.Close()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if g.Begin(b.Context()) == nil {
				g.End(1, 1)
			}
		}
	})
}
