//go:build !linux

package web

import "net"

// checkPeer passes everybody: the owner of a socket cannot be told here yet.
func checkPeer(net.Conn) error { return nil }
