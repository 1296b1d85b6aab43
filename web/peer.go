package web

import (
	"context"
	"net"
)

const settingAnyUser = "web.any_user"

// admit closes a connection at once unless its other end belongs to our user.
// net/http then finds it closed and serves nothing. Platforms without the
// look-up, and users who turned it off (WSL2, ports forwarded from elsewhere),
// rely on the session alone.
func (s *Server) admit(ctx context.Context, c net.Conn) context.Context {
	if s.anyUser() {
		return ctx
	}
	if err := checkPeer(c); err != nil {
		s.log.Warn("connection refused", "from", c.RemoteAddr(), "reason", err)
		c.Close()
	}
	return ctx
}

func (s *Server) anyUser() bool {
	var on bool
	_, err := s.store.Setting(settingAnyUser, &on)
	return err == nil && on
}
