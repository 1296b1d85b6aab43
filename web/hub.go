package web

import (
	"bytes"
	"context"
	"iter"
	"sync"
	"time"

	"github.com/hourhand/hourhand/agent"
)

// part is one place of a page that the stream keeps fresh. Parts are state, not
// changes: whoever missed some frames is right again with the next.
type part struct {
	target string        // id of the element whose inside this is
	html   []byte        // the inside
	key    string        // the part is sent anew when this changes; "": when html does
	rest   time.Duration // at least this long between two renewals
}

// frame is all parts of one view at one moment. It is shared by all readers and
// never changed.
type frame struct {
	seq   uint64
	parts []sentPart
	next  chan struct{} // closed when a newer frame is there
}

type sentPart struct {
	part
	seq uint64 // of the frame in which it changed
	at  time.Time
}

// hub renders each view once per tick, as long as somebody looks at it, and
// hands the bytes to all readers. A reader can never slow it.
type hub struct {
	watch  func(context.Context) iter.Seq[agent.Status]
	render func(view string, s agent.Status) ([]part, error)
	now    func() time.Time

	mu      sync.Mutex // guards the fields below, and each room's
	rooms   map[string]*room
	readers int
}

// room is one view with its readers.
type room struct {
	readers int
	latest  *frame // nil until the first is rendered
	first   chan struct{}
	err     error // of the first rendering
	stop    context.CancelFunc
}

func newHub(watch func(context.Context) iter.Seq[agent.Status], render func(string, agent.Status) ([]part, error), now func() time.Time) *hub {
	return &hub{watch: watch, render: render, now: now, rooms: map[string]*room{}}
}

// enter counts a reader in; ok is false if there are too many. The first reader
// of a view starts its rendering, which ends with the last one.
func (h *hub) enter(view string) (r *room, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers == maxStreams {
		return nil, false
	}
	r = h.rooms[view]
	if r == nil {
		ctx, cancel := context.WithCancel(context.Background())
		r = &room{first: make(chan struct{}), stop: cancel}
		h.rooms[view] = r
		go h.serve(ctx, view, r) // ends when leave calls stop
	}
	h.readers++
	r.readers++
	return r, true
}

func (h *hub) leave(view string, r *room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers--
	r.readers--
	if r.readers == 0 {
		r.stop()
		delete(h.rooms, view)
	}
}

func (h *hub) latest(r *room) *frame {
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.latest
}

// serve renders the view at each new status, at most once per tick, and now and
// then without one, since "48 minutes ago" ages by itself.
func (h *hub) serve(ctx context.Context, view string, r *room) {
	statuses := make(chan agent.Status)
	go func() { // ends with ctx
		for s := range h.watch(ctx) {
			select {
			case statuses <- s:
			case <-ctx.Done():
				return
			}
		}
	}()
	age := time.NewTicker(breath)
	defer age.Stop()
	var last agent.Status
	for {
		select {
		case last = <-statuses:
		case <-age.C:
			if last.Now.IsZero() {
				continue // nothing came yet
			}
		case <-ctx.Done():
			return
		}
		last.Now = h.now().In(last.Now.Location()) // a snapshot may be as old as the last change
		h.publish(view, r, last)
		select {
		case <-time.After(tick):
		case <-ctx.Done():
			return
		}
	}
}

// publish makes the next frame and wakes the readers. A view that cannot be
// rendered (its job was removed) keeps its last frame.
func (h *hub) publish(view string, r *room, s agent.Status) {
	parts, err := h.render(view, s)
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.latest == nil && r.err == nil {
		defer close(r.first)
		r.err = err
	}
	if err != nil {
		return
	}
	fresh := follow(r.latest, parts, time.Now())
	if fresh == nil {
		return
	}
	if r.latest != nil {
		close(r.latest.next)
	}
	r.latest = fresh
}

// follow compares parts with the frame before; nil if nothing is to be sent.
func follow(before *frame, parts []part, now time.Time) *frame {
	next := &frame{seq: 1, next: make(chan struct{})}
	old := map[string]sentPart{}
	if before != nil {
		next.seq = before.seq + 1
		for _, p := range before.parts {
			old[p.target] = p
		}
	}
	changed := before == nil || len(parts) != len(before.parts)
	for _, p := range parts {
		was, known := old[p.target]
		if known && (was.same(p) || now.Sub(was.at) < p.rest) {
			next.parts = append(next.parts, was)
			continue
		}
		next.parts = append(next.parts, sentPart{part: p, seq: next.seq, at: now})
		changed = true
	}
	if !changed {
		return nil
	}
	return next
}

func (was sentPart) same(p part) bool {
	if p.key != "" {
		return was.key == p.key
	}
	return bytes.Equal(was.html, p.html)
}

// since joins the parts that changed after a frame that the reader has: as one
// message of the stream.
func (f *frame) since(seq uint64) []byte {
	var b bytes.Buffer
	for _, p := range f.parts {
		if p.seq > seq {
			b.WriteString(`<hx-partial hx-target="#` + p.target + `" hx-swap="innerMorph">`)
			b.Write(p.html)
			b.WriteString("</hx-partial>\n")
		}
	}
	return b.Bytes()
}
