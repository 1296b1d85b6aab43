package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
)

// Background lowers the calling thread's CPU priority and its I/O class to idle,
// where the platform has them. The goroutine must hold its thread
// (runtime.LockOSThread) and end with it: the priority is not raised again.
func Background() { background() }

// Machine is an opaque, stable id of this machine: the same after a restart, and
// of no use for finding the machine's own id, which systems ask to keep private.
// Without such an id the host name stands in for it.
func Machine() string {
	id := machineID()
	if id == "" {
		id, _ = os.Hostname()
	}
	sum := sha256.Sum256([]byte("hourhand machine " + id))
	return hex.EncodeToString(sum[:16])
}
