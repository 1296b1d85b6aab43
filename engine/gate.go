package engine

import (
	"context"
	"sync"

	"golang.org/x/time/rate"

	"github.com/hourhand/hourhand/engine/tree"
)

// Gate pauses a run and limits its speed. All methods may be called at any time
// from any goroutine; the zero value is open and unlimited. A paused run issues
// no new I/O, also in the middle of a file: work goes on in steps of at most
// 1 MiB, each of which asks the gate.
type Gate struct {
	mu     sync.Mutex
	closed chan struct{} // non-nil while paused, closed at Resume
	limit  *rate.Limiter
}

// Pause closes the gate. It is no error to pause twice.
func (g *Gate) Pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = make(chan struct{})
	}
}

// Resume opens the gate.
func (g *Gate) Resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		close(g.closed)
		g.closed = nil
	}
}

// Paused tells whether the gate is closed.
func (g *Gate) Paused() bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed != nil
}

// SetLimit bounds the bytes per second read from the source, over all workers
// together; 0 lifts the bound. It takes effect with the next step of any file.
func (g *Gate) SetLimit(bytesPerSecond int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if bytesPerSecond <= 0 {
		g.limit = nil
		return
	}
	g.limit = rate.NewLimiter(rate.Limit(bytesPerSecond), tree.PieceSize)
}

// open waits until the gate is open or ctx ends.
func (g *Gate) open(ctx context.Context) error {
	for g != nil {
		g.mu.Lock()
		closed := g.closed
		g.mu.Unlock()
		if closed == nil {
			break
		}
		select {
		case <-closed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// pass waits for the gate and for n bytes of the limit, n <= tree.PieceSize.
func (g *Gate) pass(ctx context.Context, n int) error {
	if err := g.open(ctx); err != nil {
		return err
	}
	if g == nil {
		return nil
	}
	g.mu.Lock()
	limit := g.limit
	g.mu.Unlock()
	if limit == nil {
		return nil
	}
	if err := limit.WaitN(ctx, n); err != nil {
		return err
	}
	return g.open(ctx)
}
