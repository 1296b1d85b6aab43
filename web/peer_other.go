//go:build !linux

package web

import "net"

// canCheckPeer: whether checkPeer can tell anything on this platform.
const canCheckPeer = false

// checkPeer passes everybody: the owner of a socket cannot be told here yet.
func checkPeer(net.Conn) error { return nil }
