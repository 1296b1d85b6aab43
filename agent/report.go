package agent

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// Causes of a run that did not end well, for hints and exit codes.
const (
	CauseNoSource  = "source-missing"
	CauseNoTarget  = "target-missing"
	CauseOverlap   = "overlap" // of source and target
	CauseForeign   = "foreign"
	CauseVolume    = "volume"
	CauseHeld      = "held"
	CauseFull      = "full"
	CauseLocked    = "locked"
	CauseLost      = "target-lost"
	CauseUsage     = "usage"
	CauseMismatch  = engine.CauseMismatch // files that are rotten or missing
	CauseFiles     = "files"              // some files had problems
	CauseEdited    = "edited"             // files of an hour were changed, or are not ours
	CauseCancelled = "cancelled"
	CauseStopped   = "stopped" // Hourhand or the machine
	CausePaused    = "paused"
	CauseAsleep    = "asleep"   // nobody was there when it was due
	CauseReplaced  = "replaced" // a newer due came while it waited
	CauseOther     = engine.CauseOther
)

// causes are those of the engine's run-level errors.
var causes = []struct {
	err   error
	cause string
}{
	{engine.ErrNoSource, CauseNoSource},
	{engine.ErrNoTarget, CauseNoTarget},
	{engine.ErrOverlap, CauseOverlap},
	{engine.ErrForeign, CauseForeign},
	{engine.ErrVolume, CauseVolume},
	{engine.ErrHeld, CauseHeld},
	{engine.ErrNoSpace, CauseFull},
	{engine.ErrLocked, CauseLocked},
	{engine.ErrLost, CauseLost},
	{engine.ErrUsage, CauseUsage},
	{engine.ErrMismatch, CauseMismatch},
}

func causeOf(err error) string {
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.cause
		}
	}
	return CauseOther
}

// newRunID is an id that sorts by time, in the form that the store gives.
func newRunID(now time.Time) string {
	t := now.UTC()
	salt := make([]byte, 4)
	rand.Read(salt) // never fails
	return fmt.Sprintf("%s-%03d-%x", t.Format("20060102-150405"), t.Nanosecond()/int(time.Millisecond), salt)
}

// recordID is the id of the record for the i-th hour of a request. The engine
// knows the request's id only, so a fill's further hours add theirs.
func recordID(request string, i, hour int) string {
	if i == 0 {
		return request
	}
	return fmt.Sprintf("%s-%02d", request, hour)
}

// recorded tells whether a record is that of the run that a state names.
func recorded(run string, st engine.State) bool {
	return run == st.RunID || run == recordID(st.RunID, 1, st.Hour)
}

// translate turns a report, and what the hour's folder holds after it, into what
// the store keeps: the begun run completed, its problems, and the hour's field
// of the board. st nil: the target cannot tell any more. It is the only place
// where one becomes the other.
func translate(run store.Run, rep engine.Report, st *engine.State) (store.Run, []store.Problem, *store.Hour) {
	run.Outcome, run.Ended = string(rep.Outcome), rep.Ended
	run.Copied, run.Updated, run.Removed = store.Count(rep.Copied), store.Count(rep.Updated), store.Count(rep.Removed)
	run.Moved, run.Unchanged = store.Count(rep.Moved), store.Count(rep.Unchanged)
	run.LeftOut, run.Verified = store.LeftOut(rep.LeftOut), verified(rep.Verified)
	run.ProblemCount, run.Notes = rep.ProblemCount, rep.Notes
	run.Sealed, run.Changed = rep.Sealed, rep.Changed
	run.Reason, run.Cause = why(rep)
	if rep.Plan != nil {
		run.Plan, _ = json.Marshal(rep.Plan) // plain fields: cannot fail
	}
	problems := make([]store.Problem, len(rep.Problems))
	for i, p := range rep.Problems {
		problems[i] = store.Problem(p)
	}
	switch {
	case st != nil:
		h := hourOf(*st, run.ID)
		return run, problems, &h
	case rep.Changed: // the target went away half-way
		return run, problems, &store.Hour{Content: string(engine.Writing)}
	}
	return run, problems, nil
}

// why is a report's reason, a sentence, and its cause.
func why(rep engine.Report) (reason, cause string) {
	switch {
	case rep.Outcome == engine.Cancelled:
		return "", CauseCancelled
	case rep.Plan != nil && rep.Plan.Reason != "":
		return rep.Plan.Reason, causeOf(rep.Err)
	case rep.Err != nil:
		return rep.Err.Error(), causeOf(rep.Err)
	case rep.Outcome == engine.Partial && rep.ProblemCount == 1:
		return "1 file could not be copied", CauseFiles
	case rep.Outcome == engine.Partial:
		return fmt.Sprintf("%d files could not be copied", rep.ProblemCount), CauseFiles
	}
	return "", ""
}

func verified(v engine.Verified) store.Verified {
	return store.Verified{Device: store.Count(v.Device), Cache: store.Count(v.Cache), Server: store.Count(v.Server), Source: store.Count(v.Source)}
}

// hourOf is the board's field for an hour's state. known is the record that may
// have sealed it. Who ran last is not in it: the board keeps runs that never
// reached the target, too.
func hourOf(st engine.State, known string) store.Hour {
	h := store.Hour{
		Content: string(st.Content), From: st.From, To: st.To, Due: st.Due,
		Files: store.Count(st.Files), Problems: st.Problems,
		Verified: verified(st.Verified), Oldest: st.Oldest, Notes: st.Notes,
	}
	if st.Content == engine.Sealed {
		h.SealedBy = st.RunID
		if recorded(known, st) {
			h.SealedBy = known
		}
	}
	return h
}

// BoardOf asks a job's target about its 24 hours, for store.Config.Board.
func BoardOf(j store.Job) (store.Board, error) {
	var board store.Board
	states, err := engine.Hours(j.Target)
	if err != nil {
		return board, err
	}
	for i := range board {
		board[i] = hourOf(states[i], "")
		board[i].LastRun, board[i].Outcome, board[i].At = states[i].LastRun.ID, string(states[i].LastRun.Outcome), states[i].LastRun.Ended
	}
	return board, nil
}

// WasSealed tells whether a run that was begun and never ended has sealed its
// hour all the same, for store.Config.WasSealed.
func WasSealed(j store.Job, run store.Run) (store.Hour, bool) {
	if run.Hour < 0 || run.Hour > 23 {
		return store.Hour{}, false
	}
	states, err := engine.Hours(j.Target)
	if err != nil {
		return store.Hour{}, false
	}
	st := states[run.Hour]
	if st.Content != engine.Sealed || !recorded(run.ID, st) {
		return store.Hour{}, false
	}
	return hourOf(st, run.ID), true
}
