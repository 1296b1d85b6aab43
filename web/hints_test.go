package web

import (
	"strings"
	"testing"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// TestEveryCauseHasAHint: whatever engine and agent can say, a person is told
// what it means and what to do.
func TestEveryCauseHasAHint(t *testing.T) {
	causes := []string{
		engine.CausePermission, engine.CauseChanged, engine.CauseRead, engine.CauseWrite, engine.CauseName,
		engine.CauseTooLarge, engine.CauseMismatch, engine.CauseRot, engine.CauseListing, engine.CauseOther,
		agent.CauseNoSource, agent.CauseNoTarget, agent.CauseOverlap, agent.CauseForeign, agent.CauseVolume,
		agent.CauseHeld, agent.CauseFull, agent.CauseLocked, agent.CauseLost, agent.CauseUsage, agent.CauseFiles,
		string(engine.FindingMissing), string(engine.FindingExtra), string(engine.FindingHealed), string(engine.FindingInterrupted),
		string(engine.FindingUnreadable), agent.CauseEdited, agent.CauseCancelled, agent.CauseStopped, agent.CausePaused, agent.CauseAsleep, agent.CauseReplaced,
	}
	for _, cause := range causes {
		h, ok := hints[cause]
		switch {
		case !ok:
			t.Errorf("%s has no hint", cause)
		case h.Title == "" || h.Short == "" || !strings.HasSuffix(h.Text, "."):
			t.Errorf("%s: the hint is not whole: %+v", cause, h)
		case len(h.Short) > 20:
			t.Errorf("%s: %q does not fit into the ring", cause, h.Short)
		}
	}
	if hintFor(string(engine.FindingRot)).Title != hintFor(engine.CauseRot).Title || string(engine.FindingEdited) != agent.CauseEdited {
		t.Error("a finding has no hint")
	}
	if len(hints) != len(causes) {
		t.Errorf("%d hints for %d causes", len(hints), len(causes))
	}
	if hintFor("something new").Title != hints[engine.CauseOther].Title {
		t.Error("an unknown cause has no hint")
	}
}

// TestDamageOffersRepair: what a verification found is told of the copy, with
// the button that heals it, wherever the job or the hour is shown.
func TestDamageOffersRepair(t *testing.T) {
	st := literalStates()["damaged"]
	at := newSite(t, show(st))
	withHistory(t, at.store, st)
	last := st.Jobs[0].Last
	if err := at.store.Finish(*last, []store.Problem{{Path: "a", Error: "rot", Cause: "rot"}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"/", "/jobs/photos", "/jobs/photos/hours/13", runURL(last.ID)} {
		_, html := at.get(t, page)
		if !strings.Contains(html, `name="repair" value="13"`) {
			t.Errorf("%s offers no repair", page)
		}
		for _, untrue := range []string{hints["mismatch"].Title, hints["mismatch"].Text, hints["rot"].Text} {
			if strings.Contains(html, untrue) {
				t.Errorf("%s says %q", page, untrue)
			}
		}
	}
	if _, html := at.get(t, "/jobs/photos/hours/13"); !strings.Contains(html, "> Damaged</span>") || !strings.Contains(html, "before the damage was found") || strings.Contains(html, "Every file was read back since") {
		t.Error("the hour's page does not say that it is damaged")
	}
}
