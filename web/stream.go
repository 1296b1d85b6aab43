package web

import (
	"bytes"
	"context"
	"net/http"

	"time"
)

const (
	maxStreams  = 32                     // in all; a browser holds 6 connections to one host
	tick        = 250 * time.Millisecond // numbers move at most this often
	breath      = 15 * time.Second       // between comments that prove the line
	readerTime  = 2 * time.Second        // for a frame to be taken, else the reader is dropped
	streamRetry = "retry: 2000\n"        // ms before the browser comes again
)

// message writes data as one SSE message. Every line gets its own field name,
// so that nothing in the data (names of files are hostile) can begin another
// field; a CR, which would end a line too, becomes a character reference.
func message(fields string, data []byte) []byte {
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("&#13;"))
	var b bytes.Buffer
	b.WriteString(fields)
	for line := range bytes.Lines(data) {
		b.WriteString("data: ")
		b.Write(bytes.TrimSuffix(line, []byte("\n")))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// live is the stream of one view: at once its full state, then what changes.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	view := r.URL.Query().Get("view")
	room, ok := s.hub.enter(view)
	if !ok {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "Too many dashboards are open. Close one.", http.StatusServiceUnavailable)
		return
	}
	defer s.hub.leave(view, room)
	select {
	case <-room.first:
	case <-r.Context().Done():
		return
	}
	if room.err != nil {
		http.Error(w, "There is no such page.", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	if r.Method != http.MethodHead {
		s.hub.stream(r.Context(), w, room)
	}
}

// stream writes until the reader goes, is too slow, or the server stops (then
// the request's context ends).
func (h *hub) stream(ctx context.Context, w http.ResponseWriter, r *room) {
	line := time.NewTicker(breath)
	defer line.Stop()
	fields, seq := streamRetry, uint64(0)
	for {
		f := h.latest(r)
		if data := f.since(seq); len(data) > 0 && !push(w, message(fields, data)) {
			return
		}
		fields, seq = "", f.seq
		select {
		case <-f.next:
		case <-line.C:
			if !push(w, []byte(": still here\n\n")) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// push writes and flushes within readerTime; false if that failed.
func push(w http.ResponseWriter, b []byte) bool {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(readerTime))
	if _, err := w.Write(b); err != nil {
		return false
	}
	return control.Flush() == nil
}
