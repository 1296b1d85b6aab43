package web

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// SO_EXCLUSIVEADDRUSE is ~SO_REUSEADDR in ws2def.h. Without it another program
// may bind the same port with SO_REUSEADDR and get our connections.
const soExclusiveAddrUse = ^windows.SO_REUSEADDR

// exclusive makes sure that nobody else can bind the same port.
func exclusive(_, _ string, c syscall.RawConn) error {
	var set error
	err := c.Control(func(fd uintptr) {
		set = windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, soExclusiveAddrUse, 1)
	})
	if err != nil {
		return err
	}
	return set
}
