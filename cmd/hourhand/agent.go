package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/hourhand/hourhand/web"
)

// Bounds of DATA/logs: 5 files of 5 MB are some months of hourly runs.
const (
	logMegabytes = 5
	logFiles     = 5
)

type agentFlags struct {
	listen    string
	noTray    bool
	noBrowser bool
}

// agentCommand is the agent, under its own name and as what hourhand without a
// command is; only the latter looks for an agent that runs already.
func (a *app) agentCommand(use string) *cobra.Command {
	var f agentFlags
	c := &cobra.Command{
		Use:   use,
		Short: "run the agent: schedules, tray icon, dashboard",
		Args:  cobra.NoArgs,
	}
	c.Flags().StringVar(&f.listen, "listen", "", "serve the dashboard on 127.0.0.1:`PORT` (default: a port that is picked once and kept)")
	c.Flags().BoolVar(&f.noTray, "no-tray", false, "no tray icon")
	c.Flags().BoolVar(&f.noBrowser, "no-browser", false, "do not open the dashboard")
	c.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := dataFolder(a.data)
		if err != nil {
			return err
		}
		if use != "agent" {
			if opened, err := a.openRunning(dir); opened || err != nil {
				return err
			}
		}
		return a.runAgent(c.Context(), dir, f)
	}
	return c
}

// openRunning opens the dashboard of the agent that runs already, if one does.
func (a *app) openRunning(dir string) (opened bool, err error) {
	client, err := web.Dial(dir)
	if errors.Is(err, web.ErrNoAgent) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	url, err := client.OpenCode()
	if err != nil {
		return false, err
	}
	a.showDashboard(url)
	return true, nil
}

func (a *app) runAgent(ctx context.Context, dir string, f agentFlags) error {
	log, closeLog, err := a.agentLog(dir)
	if err != nil {
		return err
	}
	s, err := openService(dir, f.listen, log)
	if err != nil {
		return errors.Join(err, closeLog())
	}
	a.announce(s, dir, f)
	err = s.run(ctx, func(ctx context.Context) error {
		if f.noTray {
			<-ctx.Done()
			return nil
		}
		return showTray(ctx, s, log)
	})
	log.Info("agent ended", "error", err)
	return errors.Join(err, closeLog())
}

// agentLog writes to DATA/logs/agent.log, bounded in size, and for whoever
// watches to the error output.
func (a *app) agentLog(dir string) (*slog.Logger, func() error, error) {
	logs := filepath.Join(dir, "logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the folder for logs: %w", err)
	}
	file := &lumberjack.Logger{Filename: filepath.Join(logs, "agent.log"), MaxSize: logMegabytes, MaxBackups: logFiles - 1}
	log := slog.New(slog.NewMultiHandler(slog.NewJSONHandler(file, nil), slog.NewTextHandler(a.err, nil)))
	return log, file.Close, nil
}

// announce tells where the dashboard is and opens it where it can be seen.
func (a *app) announce(s *service, dir string, f agentFlags) {
	a.printf("the dashboard is on http://%s; hourhand open lets you in", s.listener.Addr())
	if notice := s.web.Notice(); notice != "" {
		a.warnf("note: %s", notice)
	}
	if rebuilt := s.store.Rebuilt(); rebuilt != "" {
		a.warnf("note: %s", cleanLines(rebuilt))
	}
	if !f.noBrowser && hasDisplay() {
		go openBrowser(s.web.OpenURL()) // the server answers as soon as the service runs
	}
}
