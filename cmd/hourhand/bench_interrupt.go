package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/hourhand/hourhand/engine/bench"
)

// benchStop ends a bench at signals. Elsewhere a second signal ends the process
// at once, but here that would leave gigabytes behind, and one Ctrl-C can arrive
// twice: timeout(1) sends it to the process and to its group.
type benchStop struct {
	a       *app
	places  atomic.Pointer[[]string] // the folders that the bench made
	signals chan os.Signal
}

// untilBenchStopped takes the signals over: the first ends the context, the
// second is only answered, the third ends the process. end gives them back to
// the system.
func (a *app) untilBenchStopped(parent context.Context) (ctx context.Context, s *benchStop, end func()) {
	ctx, cancel := context.WithCancel(parent)
	s = &benchStop{a: a, signals: make(chan os.Signal, 3)}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Reset(sig)
			signal.Notify(s.signals, sig)
		}
	}
	go s.answer(cancel) // lives as long as the process
	return ctx, s, func() {
		signal.Stop(s.signals)
		cancel()
	}
}

func (s *benchStop) answer(cancel context.CancelFunc) {
	<-s.signals
	cancel()
	<-s.signals
	s.a.warnf("hourhand: ending; what the bench made is being removed (once more ends it at once, and leaves that)")
	<-s.signals
	if places := s.places.Load(); places != nil {
		s.a.warnf("hourhand: this stays, and a further bench there removes it: %s", clean(strings.Join(*places, ", ")))
	}
	os.Exit(int(codeCancelled))
}

// watching learns from the progress which folders there are.
func (s *benchStop) watching(show func(bench.Progress)) func(bench.Progress) {
	return func(p bench.Progress) {
		s.places.Store(&p.Places)
		if show != nil {
			show(p)
		}
	}
}
