package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/engine/exclude"
	"github.com/hourhand/hourhand/store"
	"github.com/hourhand/hourhand/web"
)

// agentLockWait is how long a starting agent waits for a command that has the
// data folder open for a moment.
const agentLockWait = 5 * time.Second

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
	s.web, err = web.New(web.Config{Agent: s.agent, Store: s.store, DataDir: dir, Log: log, Excludes: exclude.Defaults, DriveOf: driveOf})
	if err != nil {
		return err
	}
	s.listener, err = s.web.Listen(listen)
	return err
}

// driveOf tells the dashboard's assistant of a drive: web knows no engine.
func driveOf(path string) (web.Drive, error) {
	d, err := engine.DriveOf(path)
	return web.Drive{ID: d.ID, FileSystem: d.FileSystem, Free: d.Free, Total: d.Total, ReadOnly: d.ReadOnly}, err
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
