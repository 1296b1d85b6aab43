package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
	"github.com/hourhand/hourhand/web"
)

// backend is what the commands about jobs talk to: the running agent
// (web.Client), or this process in its place (here). Jobs are named by id or by
// name.
type backend interface {
	Status() (agent.Status, error)
	Jobs() ([]store.Job, error)
	Job(idOrName string) (store.Job, error)
	SaveJob(store.Job) (store.Job, []string, error)
	AdoptJob(store.Job) (store.Job, []string, error)
	RemoveJob(job string) error

	Start(job string, hour int) (string, error)
	Fill(job string, hours []int) (string, error)
	Approve(job, plan string) (string, error)
	Verify(job string, hours []int, repair bool) (string, error)
	Cancel(job string) error
	Pause(until time.Time) error
	Resume() error

	Wait(ctx context.Context, run string) (store.Run, error)
	Problems(run string) ([]store.Problem, error)
	History(job string, limit int) ([]store.Run, error)
}

// withBackend finds the running agent, or opens the data folder for the moment
// that do takes. A run that do started here ends with ctx.
func (a *app) withBackend(ctx context.Context, do func(backend) error) error {
	dir, err := dataFolder(a.data)
	if err != nil {
		return err
	}
	client, err := web.Dial(dir)
	if err == nil {
		return do(client)
	}
	if !errors.Is(err, web.ErrNoAgent) {
		return err
	}
	h, err := openHere(ctx, dir)
	if err != nil {
		return err
	}
	err = do(h)
	return errors.Join(err, h.close())
}

// openStore opens a data folder the way the agent and the commands do.
func openStore(dir string, wait time.Duration) (*store.Store, error) {
	return store.Open(store.Config{Dir: dir, Wait: wait, Board: agent.BoardOf, WasSealed: agent.WasSealed})
}

// here is a data folder opened by this process, with an agent that works by
// hand only.
type here struct {
	*agent.Agent
	store *store.Store
	begin func()       // starts the agent's loop, once
	stop  func() error // ends it
}

func openHere(ctx context.Context, dir string) (*here, error) {
	s, err := openStore(dir, 0)
	if err != nil {
		return nil, err
	}
	a, err := agent.New(agent.Config{Store: s, Scratch: dir, Version: version(), ByHand: true})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	begin, stop := inBackground(ctx, a.Run)
	return &here{Agent: a, store: s, begin: begin, stop: stop}, nil
}

// inBackground gives run a goroutine at the first begin; stop ends it and waits
// for it.
func inBackground(ctx context.Context, run func(context.Context) error) (begin func(), stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	started := false
	begin = sync.OnceFunc(func() {
		started = true
		go func() { ended <- run(ctx) }()
	})
	stop = func() error {
		cancel()
		if !started {
			return nil
		}
		return unlessStopped(<-ended)
	}
	return begin, stop
}

func (h *here) close() error { return errors.Join(h.stop(), h.store.Close()) }

func (h *here) Status() (agent.Status, error)          { return h.Agent.Status(), nil }
func (h *here) Jobs() ([]store.Job, error)             { return h.store.Jobs() }
func (h *here) Job(idOrName string) (store.Job, error) { return h.store.Job(idOrName) }

func (h *here) RemoveJob(job string) error {
	return h.named(job, h.Agent.RemoveJob)
}

func (h *here) Start(job string, hour int) (string, error) {
	return h.started(job, func(id string) (string, error) { return h.Agent.Start(id, hour) })
}

func (h *here) Fill(job string, hours []int) (string, error) {
	return h.started(job, func(id string) (string, error) { return h.Agent.Fill(id, hours) })
}

func (h *here) Approve(job, plan string) (string, error) {
	return h.started(job, func(id string) (string, error) { return h.Agent.Approve(id, plan) })
}

func (h *here) Verify(job string, hours []int, repair bool) (string, error) {
	return h.started(job, func(id string) (string, error) { return h.Agent.Verify(id, hours, repair) })
}

func (h *here) Cancel(job string) error {
	if job == "" {
		return h.Agent.Cancel("")
	}
	return h.named(job, h.Agent.Cancel)
}

func (h *here) Problems(run string) ([]store.Problem, error) { return h.store.Problems(run) }

func (h *here) History(job string, limit int) ([]store.Run, error) {
	if job != "" {
		j, err := h.store.Job(job)
		if err != nil {
			return nil, err
		}
		job = j.ID
	}
	runs := []store.Run{}
	for r, err := range h.store.Runs(job) {
		if err != nil {
			return nil, err
		}
		if runs = append(runs, r); limit > 0 && len(runs) == limit {
			break
		}
	}
	return runs, nil
}

// named calls do with the id of a job.
func (h *here) named(job string, do func(id string) error) error {
	j, err := h.store.Job(job)
	if err != nil {
		return err
	}
	return do(j.ID)
}

// started calls do, which begins a run, with the id of a job.
func (h *here) started(job string, do func(id string) (string, error)) (run string, err error) {
	h.begin()
	err = h.named(job, func(id string) error {
		run, err = do(id)
		return err
	})
	return run, err
}

// jobStatus is a job's part of the present snapshot.
func jobStatus(b backend, job string) (agent.JobStatus, error) {
	j, err := b.Job(job)
	if err != nil {
		return agent.JobStatus{}, err
	}
	s, err := b.Status()
	if err != nil {
		return agent.JobStatus{}, err
	}
	i := slices.IndexFunc(s.Jobs, func(js agent.JobStatus) bool { return js.Job.ID == j.ID })
	if i < 0 {
		return agent.JobStatus{}, store.ErrNotFound
	}
	return s.Jobs[i], nil
}
