//go:build !linux

package tree

// These systems have no such calls, or none that Go can make: their caches are
// left to their own judgement.

func startWrite(handle, int64, int64) {}

func isCached(handle) bool { return false }

func adviseSequential(handle) {}

func dropPages(handle) {}
