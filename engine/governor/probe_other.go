//go:build !linux && !windows

package governor

import (
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// probe sees nothing: macOS keeps such counters in IOKit, which Go reaches through
// cgo alone. The law goes by the latency of the own steps then.
type probe struct{}

func newProbe([]tree.Drive) probe { return probe{} }
func (probe) read() counters      { return counters{at: time.Now()} }
func (probe) close()              {}
