package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// ErrNoAgent means that no agent of this data folder answers.
var ErrNoAgent = errors.New("no agent is running")

// callTimeout bounds each call but Wait. The slowest one is SaveJob, which
// measures a source to tell whether 24 copies fit.
const callTimeout = 5 * time.Minute

// Client speaks to the running agent of a data folder. Its methods mean what
// the agent's methods of the same name mean, and their errors satisfy errors.Is
// and errors.As with the same values; where an agent takes a job's id, a Client
// also takes its name. They may be called from any goroutine.
type Client struct {
	address string
	token   string
	http    http.Client
}

// Dial finds the agent by DATA/agent.json and makes sure that it answers and is
// ours. ErrNoAgent if there is none.
func Dial(dataDir string) (*Client, error) {
	at, err := readAgentFile(dataDir)
	if err != nil {
		return nil, err
	}
	c := &Client{address: at.Address, token: at.Token}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	var hello helloAnswer
	if err := c.do(ctx, http.MethodGet, "hello", nil, &hello); err != nil {
		return nil, fmt.Errorf("%w: %s does not answer", ErrNoAgent, at.Address)
	}
	if hello.PID != at.PID {
		return nil, fmt.Errorf("%w: another program answers at %s", ErrNoAgent, at.Address)
	}
	return c, nil
}

// Status is the agent's present snapshot.
func (c *Client) Status() (s agent.Status, err error) {
	err = c.get("status", &s)
	return s, err
}

// Jobs lists all jobs by name.
func (c *Client) Jobs() (jobs []store.Job, err error) {
	err = c.get("jobs", &jobs)
	return jobs, err
}

// Job finds a job by id or by name. store.ErrNotFound.
func (c *Client) Job(idOrName string) (j store.Job, err error) {
	err = c.get("jobs/"+url.PathEscape(idOrName), &j)
	return j, err
}

// SaveJob adds (ID "") or edits a job. *agent.FieldError.
func (c *Client) SaveJob(j store.Job) (saved store.Job, warnings []string, err error) {
	var a savedAnswer
	err = c.post("jobs", j, &a)
	return a.Job, a.Warnings, err
}

// AdoptJob is SaveJob for a target that is not empty and not ours: the first run
// takes it over.
func (c *Client) AdoptJob(j store.Job) (saved store.Job, warnings []string, err error) {
	var a savedAnswer
	err = c.post("jobs/adopt", j, &a)
	return a.Job, a.Warnings, err
}

// RemoveJob forgets a job; its folders stay.
func (c *Client) RemoveJob(job string) error {
	return c.post("jobs/"+url.PathEscape(job)+"/remove", struct{}{}, nil)
}

// Start runs a job now, into hour (-1: the present one), and returns the run's
// id. agent.ErrBusy.
func (c *Client) Start(job string, hour int) (string, error) {
	return c.begin(job, "start", startRequest{Hour: hour})
}

// Fill writes several hours (nil: all 24) from one reading of the source.
func (c *Client) Fill(job string, hours []int) (string, error) {
	return c.begin(job, "fill", fillRequest{Hours: hours})
}

// Approve lets the held run's plan pass (plan "": the one that waits).
// agent.ErrNotHeld, agent.ErrOtherPlan.
func (c *Client) Approve(job, plan string) (string, error) {
	return c.begin(job, "approve", approveRequest{Plan: plan})
}

// Verify reads hours back (nil: the newest sealed one).
func (c *Client) Verify(job string, hours []int, repair bool) (string, error) {
	return c.begin(job, "verify", verifyRequest{Hours: hours, Repair: repair})
}

func (c *Client) begin(job, verb string, request any) (string, error) {
	var a begunAnswer
	err := c.post("jobs/"+url.PathEscape(job)+"/"+verb, request, &a)
	return a.Run, err
}

// Cancel stops the run at work of a job, of all jobs for "". agent.ErrNoRun.
func (c *Client) Cancel(job string) error {
	return c.post("cancel", cancelRequest{Job: job}, nil)
}

// Pause stops all I/O until the given time (zero: until resumed).
func (c *Client) Pause(until time.Time) error {
	return c.post("pause", pauseRequest{Until: until}, nil)
}

// Resume ends a pause.
func (c *Client) Resume() error {
	return c.post("resume", struct{}{}, nil)
}

// Wait blocks until the run has ended and returns it. It asks again and again,
// each question being held for a while by the agent.
func (c *Client) Wait(ctx context.Context, run string) (store.Run, error) {
	for {
		var a waitAnswer
		if err := c.do(ctx, http.MethodGet, "runs/"+url.PathEscape(run)+"/wait", nil, &a); err != nil {
			return store.Run{}, err
		}
		if a.Ended {
			return a.Run, nil
		}
	}
}

// Run finds a run. store.ErrNotFound.
func (c *Client) Run(id string) (r store.Run, err error) {
	err = c.get("runs/"+url.PathEscape(id), &r)
	return r, err
}

// Problems of a run, at most store.MaxProblems.
func (c *Client) Problems(run string) (problems []store.Problem, err error) {
	err = c.get("runs/"+url.PathEscape(run)+"/problems", &problems)
	return problems, err
}

// History lists the newest runs of a job ("": of all jobs), newest first; limit
// 0: all that are kept.
func (c *Client) History(job string, limit int) (runs []store.Run, err error) {
	q := url.Values{"job": {job}, "limit": {strconv.Itoa(limit)}}
	err = c.get("history?"+q.Encode(), &runs)
	return runs, err
}

// Board is the 24 hours of a job.
func (c *Client) Board(job string) (b store.Board, err error) {
	err = c.get("jobs/"+url.PathEscape(job)+"/board", &b)
	return b, err
}

// OpenCode returns an address that opens the dashboard once, within 30 seconds.
func (c *Client) OpenCode() (string, error) {
	var a openAnswer
	err := c.post("open", struct{}{}, &a)
	return a.URL, err
}

func (c *Client) get(path string, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return c.do(ctx, http.MethodGet, path, nil, answer)
}

func (c *Client) post(path string, request, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return c.do(ctx, http.MethodPost, path, request, answer)
}

// do makes one call. An answer of nil is thrown away.
func (c *Client) do(ctx context.Context, method, path string, request, answer any) error {
	var body bytes.Buffer
	if request != nil {
		if err := json.NewEncoder(&body).Encode(request); err != nil {
			return fmt.Errorf("encode the call %s: %w", path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.address+"/api/v1/"+path, &body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %v", ErrNoAgent, err)
	}
	defer res.Body.Close()
	return decodeAnswer(res, answer)
}

func decodeAnswer(res *http.Response, answer any) error {
	if res.StatusCode != http.StatusOK {
		var wire wireError
		if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&wire); err != nil {
			return fmt.Errorf("the agent answered %s", res.Status)
		}
		return wire.err()
	}
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(res.Body).Decode(answer); err != nil {
		return fmt.Errorf("read the agent's answer: %w", err)
	}
	return nil
}
