package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hourhand/hourhand/agent/tray"
)

// showTray has the main goroutine until ctx ends or a person quits. Where there
// can be no icon, the agent says so once and goes on without.
func showTray(ctx context.Context, s *service, log *slog.Logger) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	tell := func(did string, err error) {
		if err != nil {
			log.Error("tray: "+did+" failed", "error", err)
		}
	}
	err := tray.Run(ctx, tray.Config{
		Watch:    s.agent.Watch,
		Open:     func() { openBrowser(s.web.OpenURL()) },
		StartAll: func() { tell("run now", s.startAll()) },
		Pause:    func(until time.Time) { tell("pause", s.agent.Pause(until)) },
		Resume:   func() { tell("resume", s.agent.Resume()) },
		Quit:     quit,
	})
	if errors.Is(err, tray.ErrNone) {
		log.Info("works without a tray icon", "reason", err)
		<-ctx.Done()
		return nil
	}
	return err
}

// startAll runs each job now.
func (s *service) startAll() (err error) {
	for _, j := range s.agent.Status().Jobs {
		_, failed := s.agent.Start(j.Job.ID, presentHour)
		err = errors.Join(err, failed)
	}
	return err
}
