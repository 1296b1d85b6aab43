package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
	"github.com/hourhand/hourhand/web"
)

// agentLockWait is how long a starting agent waits for a command that has the
// data folder open for a moment.
const agentLockWait = 5 * time.Second

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
	err = s.run(ctx, func(ctx context.Context) error { return a.showTray(ctx, s, f) })
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

// service is an agent with its dashboard, on one data folder.
type service struct {
	store    *store.Store
	agent    *agent.Agent
	web      *web.Server
	listener net.Listener
}

// openService opens the data folder and the dashboard's address. run must
// follow; it closes what was opened.
func openService(dir, listen string, log *slog.Logger) (*service, error) {
	st, err := openStore(dir, agentLockWait)
	if err != nil {
		return nil, err
	}
	s := &service{store: st}
	if err := s.open(dir, listen, log); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return s, nil
}

func (s *service) open(dir, listen string, log *slog.Logger) (err error) {
	s.agent, err = agent.New(agent.Config{Store: s.store, Scratch: dir, Log: log, Version: version()})
	if err != nil {
		return err
	}
	s.web, err = web.New(web.Config{Agent: s.agent, Store: s.store, DataDir: dir, Log: log})
	if err != nil {
		return err
	}
	s.listener, err = s.web.Listen(listen)
	return err
}

// run works until ctx ends or a part fails; front has the calling goroutine, and
// the service ends when it returns.
func (s *service) run(ctx context.Context, front func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return unlessStopped(s.agent.Run(ctx)) })
	parts.Go(func() error { return s.web.Serve(ctx, s.listener) })
	err := unlessStopped(front(ctx))
	stop()
	return errors.Join(err, parts.Wait(), s.store.Close())
}

// unlessStopped drops the error of a part that ended because it was told to.
func unlessStopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// showTray has the main goroutine until ctx ends.
func (a *app) showTray(ctx context.Context, s *service, f agentFlags) error {
	<-ctx.Done()
	return ctx.Err()
}
