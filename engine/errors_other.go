//go:build !windows

package engine

// sharing tells Windows' errors for a file that another program holds.
func sharing(error) bool { return false }

// diskFull and driveGone tell Windows' own codes; elsewhere errno says it.
func diskFull(error) bool  { return false }
func driveGone(error) bool { return false }
