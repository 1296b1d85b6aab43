package web

import (
	"slices"
	"testing"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// TestWeekShowsCopies: a slot tells what became of its copy; verifications,
// whatever they found, and hours to come do not stand for one.
func TestWeekShowsCopies(t *testing.T) {
	day := midnight(at14)
	runs := []store.Run{ // newest first
		{Job: "a", Hour: 7, Started: at14, Trigger: triggerVerify, Outcome: store.Failed, Cause: agent.CauseUsage},
		{Job: "a", Hour: 12, Started: at14, Trigger: triggerVerify, Outcome: store.Failed, Cause: agent.CauseMismatch},
		{Job: "a", Hour: 12, Due: day.Add(12 * time.Hour), Outcome: store.Done},
		{Job: "a", Hour: 11, Due: day.Add(11 * time.Hour), Outcome: store.Done, Copied: store.Count{Files: 1, Bytes: 1}},
		{Job: "a", Hour: 11, Due: day.Add(11 * time.Hour), Outcome: store.Failed},
		{Job: "a", Hour: 10, Due: day.Add(10 * time.Hour), Outcome: store.Failed},
		{Job: "b", Hour: 10, Due: day.Add(10 * time.Hour), Outcome: store.Done},
	}
	week := weekOf(runs, nil, at14, func(string) string { return "" })
	for hour, want := range map[int]string{7: "", 12: "v1", 11: "v3", 10: "f", 13: "", 14: "n", 23: "n"} {
		if got := week.Days[0].Cells[hour].Class; got != want {
			t.Errorf("hour %02d: got class %q, want %q", hour, got, want)
		}
	}
	var explained []string
	for _, l := range week.Legend {
		explained = append(explained, l.Class)
	}
	if want := []string{"v1", "v2", "v3", "f", "", "n"}; !slices.Equal(explained, want) {
		t.Errorf("the legend explains %q, want %q", explained, want)
	}
}
