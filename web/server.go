package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// Config of New. Agent, Store and DataDir are needed, the rest is optional.
type Config struct {
	Agent    *agent.Agent
	Store    *store.Store
	DataDir  string                           // where agent.json is put
	Excludes []string                         // default exclude patterns, to be shown; nil: not shown
	DriveOf  func(path string) (Drive, error) // for the assistant; nil: drives are not told apart
	Log      *slog.Logger                     // nil: discard
	Now      func() time.Time                 // nil: time.Now; the wall clock
}

// Drive is what the assistant tells about the drive that holds a folder.
type Drive struct {
	ID         string // equal for folders on one drive; "": unknown
	FileSystem string // "ext4", "vfat", ...
	Free       int64  // bytes
	Total      int64
	ReadOnly   bool
}

// Server is the dashboard and the API of one agent. Listen once, then Serve
// once; OpenURL may be called from any goroutine after Listen.
type Server struct {
	agent    *agent.Agent
	store    *store.Store
	dataDir  string
	log      *slog.Logger
	now      func() time.Time
	status   func() agent.Status // of agent; tests put literal ones here
	sessions *sessions
	token    string // for /api/v1, new at each start
	hub      *hub
	recent   *recentRuns
	sizes    *sizes
	excludes []string
	driveOf  func(string) (Drive, error)
	warnings warnings // of forms that were just saved

	crossOrigin *http.CrossOriginProtection

	address string // "127.0.0.1:PORT", known after Listen
	notice  string // what Listen has to tell, or ""
}

// New makes a server that does not listen yet.
func New(c Config) (*Server, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	known, err := loadSessions(c.Store, c.Now)
	if err != nil {
		return nil, fmt.Errorf("read who may open the dashboard: %w", err)
	}
	s := &Server{
		agent: c.Agent, store: c.Store, dataDir: c.DataDir, log: c.Log, now: c.Now,
		status: c.Agent.Status, sessions: known, token: newSecret(), crossOrigin: http.NewCrossOriginProtection(),
		recent: &recentRuns{store: c.Store}, sizes: newSizes(), excludes: c.Excludes, driveOf: c.DriveOf,
	}
	s.hub = newHub(c.Agent.Watch, s.renderParts, c.Now)
	return s, nil
}

// OpenURL returns an address that opens the dashboard without a password: good
// for one use within 30 seconds, in a browser of this user on this machine.
func (s *Server) OpenURL() string {
	return "http://" + s.address + "/open?code=" + s.sessions.newCode()
}

// Notice is what a person should know about the address ("it changed ..."), or
// "". It is known after Listen.
func (s *Server) Notice() string { return s.notice }

// Serve answers on ln, which Listen made, until ctx ends; then it ends the
// streams, waits up to 3 s for other answers and closes. While it works,
// DATA/agent.json tells the command line where.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	defer s.sizes.close()
	streams, endStreams := context.WithCancel(context.Background())
	defer endStreams()
	srv := &http.Server{
		Handler:                      s.routes(),
		ReadHeaderTimeout:            5 * time.Second,
		IdleTimeout:                  60 * time.Second,
		MaxHeaderBytes:               28 << 10, // net/http adds 4 KB of slack: 32 KB
		ConnContext:                  s.admit,
		BaseContext:                  func(net.Listener) context.Context { return streams },
		DisableGeneralOptionsHandler: true, // "OPTIONS *" too meets the guard
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	srv.RegisterOnShutdown(endStreams)

	at := agentFile{Address: s.address, Token: s.token, PID: os.Getpid()}
	if err := at.write(s.dataDir); err != nil {
		return errors.Join(fmt.Errorf("tell the command line where the agent is: %w", err), ln.Close())
	}
	var stopped sync.WaitGroup
	served, done := context.WithCancel(ctx)
	stopped.Go(func() { // ends with ctx, or when Serve below fails
		<-served.Done()
		stop(srv)
	})
	err := srv.Serve(ln)
	done()
	stopped.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, removeAgentFile(s.dataDir, s.token))
}

// stop lets answers end, but not for ever: Shutdown waits for each connection
// (golang/go#41344).
func stop(srv *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		srv.Close()
	}
}
