package tree

// disksUnder: only IOKit tells, which Go reaches through cgo alone. The governor
// learns from the latency of its own steps instead.
func disksUnder(handle) (Medium, []string) { return UnknownMedium, nil }
