package web

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// photos is a job with a full day behind it.
func photos() agent.JobStatus {
	j := agent.JobStatus{
		Job: store.Job{
			ID: "photos", Name: "Photos", Source: "/home/me/Pictures", Target: "/media/me/Backup-SSD/hourhand/Photos",
			Mode: "mirror", Schedule: everyHour, Verify: "full", Profile: "normal",
		},
		State: agent.Idle, NewestHour: 13, Newest: at14.Add(-48 * time.Minute), Next: at14.Truncate(time.Hour).Add(time.Hour),
	}
	for hour := range 24 {
		due := time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC)
		if hour > 13 {
			due = due.AddDate(0, 0, -1)
		}
		j.Board[hour] = sealedHour(due)
	}
	j.Last = runFor(j.Job, time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC), store.Done)
	return j
}

func sealedHour(due time.Time) store.Hour {
	files := store.Count{Files: 18404, Bytes: 18_100_000_000}
	return store.Hour{
		Content: contentSealed, Due: due, From: due.Add(5 * time.Second), To: due.Add(4 * time.Minute), Files: files,
		SealedBy: runID("photos", due), LastRun: runID("photos", due), Outcome: store.Done, At: due.Add(4 * time.Minute),
		Oldest:   due.AddDate(0, 0, -6),
		Verified: store.Verified{Device: store.Count{Files: 17210, Bytes: 17_900_000_000}, Cache: store.Count{Files: 1194, Bytes: 200_000_000}},
	}
}

func runID(job string, due time.Time) string { return job + "-" + due.Format("20060102T150405") }

func runFor(j store.Job, due time.Time, outcome string) *store.Run {
	n := int64(due.Hour()*37+due.Day()*11) % 300
	return &store.Run{
		ID: runID(j.ID, due), Job: j.ID, JobName: j.Name, Hour: due.Hour(), Due: due, Started: due.Add(2 * time.Second),
		Ended: due.Add(4 * time.Minute), Trigger: "schedule", Outcome: outcome, Sealed: outcome == store.Done,
		Copied: store.Count{Files: n, Bytes: n * n * 40_000}, Updated: store.Count{Files: n / 3, Bytes: n * 1_000_000},
		Removed: store.Count{Files: n / 9}, Unchanged: store.Count{Files: 18404 - n, Bytes: 17_900_000_000},
		Verified: store.Verified{Device: store.Count{Files: n, Bytes: n * 41_000_000}, Cache: store.Count{Files: n / 3}},
	}
}

func working(j agent.JobStatus, share float64) agent.JobStatus {
	r := &agent.RunStatus{ID: "photos-now", Hours: []int{14}, Due: at14, Trigger: "schedule"}
	p := &r.Progress
	p.Phase, p.TotalsKnown = "copying", true
	p.CopyTotal, p.BytesTotal, p.FilesTotal = 18_100_000_000, 18_100_000_000, 18404
	p.CopyDone, p.BytesDone, p.FilesDone = int64(share*18.1e9), int64(share*18.1e9), int64(share*18404)
	p.Speed, p.Current, p.Started = 118e6, "2024/Iceland/IMG_4410.CR3", at14
	for i := range 60 {
		r.Speeds = append(r.Speeds, 118e6+30e6*math.Sin(float64(i)/2)+14e6*math.Sin(float64(i)*1.7))
	}
	j.State, j.Run = agent.Running, r
	return j
}

// yielding is a gentle run with a limit that gave way 30 seconds ago for 8, and
// does so since 14 seconds.
func yielding(j agent.JobStatus) agent.JobStatus {
	r := j.Run
	r.Profile, r.Limit = "gentle", 140_000_000
	for i, v := range r.Speeds {
		r.Speeds[i] = min(v, 140e6)
		share := 1.0
		if i >= 22 && i < 30 || i >= 46 {
			share = 0.4
			r.Speeds[i] *= share
		}
		r.Shares = append(r.Shares, share)
	}
	p := &r.Progress.Pace
	p.Share, p.Flying, p.Others, p.Yielded = 0.4, 2, 48e6, "others, who read 48 MB/s from the source's drive"
	r.Progress.Speed = 52e6
	return j
}

func statusWith(jobs ...agent.JobStatus) agent.Status {
	st := agent.Status{Version: "1.2.3", Now: at14, State: agent.Idle, Jobs: jobs}
	for _, j := range jobs {
		if j.State != agent.Idle {
			st.State = j.State
		}
		if j.Newest.After(st.Newest) {
			st.Newest = j.Newest
		}
		st.Next = j.Next
	}
	return st
}

// literalStates are all states that the dashboard can be in, by name.
func literalStates() map[string]agent.Status {
	failedHour := func(j *agent.JobStatus, hour int, outcome string) {
		j.Board[hour].Outcome = outcome
	}
	last := func(j *agent.JobStatus, outcome, cause, reason string, problems int64) {
		j.Last = runFor(j.Job, time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC), outcome)
		j.Last.ID += "-" + outcome
		j.Last.Cause, j.Last.Reason, j.Last.ProblemCount = cause, reason, problems
		j.Cause, j.Reason = cause, reason
		j.Board[13].Outcome, j.Newest, j.NewestHour = outcome, at14.Add(-112*time.Minute), 12
	}
	states := map[string]agent.Status{}
	states["empty"] = statusWith()
	states["idle"] = statusWith(photos())

	mixed := working(photos(), 0.62)
	failedHour(&mixed, 3, store.Failed)
	failedHour(&mixed, 20, store.Skipped)
	mixed.Board[21] = store.Hour{}
	docs := photos()
	docs.Job.ID, docs.Job.Name, docs.Job.Source, docs.Job.Target = "docs", "Documents", "/home/me/Documents", "/media/me/Backup-SSD/hourhand/Documents"
	docs.Last = runFor(docs.Job, docs.Last.Due, store.Done)
	for hour := 15; hour < 22; hour++ {
		docs.Board[hour] = store.Hour{}
	}
	states["running"] = statusWith(docs, mixed)

	states["yielding"] = statusWith(yielding(working(photos(), 0.45)))

	counting := working(photos(), 0.1)
	counting.Run.Progress.TotalsKnown, counting.Run.Progress.Phase = false, "scanning"
	states["counting"] = statusWith(counting)

	verifying := working(photos(), 0.3)
	verifying.State, verifying.Run.Verify = agent.Verifying, true
	states["verifying"] = statusWith(verifying)

	pausing := working(photos(), 0.3)
	pausing.State = agent.Pausing
	states["pausing"] = statusWith(pausing)
	paused := working(photos(), 0.3)
	paused.State, paused.Run.Progress.Paused = agent.Paused, true
	states["paused"] = statusWith(paused)
	for _, name := range []string{"pausing", "paused"} {
		st := states[name]
		st.Pause = agent.Pause{On: true, Since: at14, Until: at14.Add(158 * time.Minute)}
		states[name] = st
	}

	waiting := photos()
	waiting.State, waiting.Reason = agent.Waiting, `waits for "Documents", which works on the same drive`
	states["waiting"] = statusWith(waiting)

	full := photos()
	last(&full, store.Failed, agent.CauseFull, "target is full: 6 GB more are needed", 0)
	full.State = agent.Failed
	states["failed"] = statusWith(full)

	partial := photos()
	last(&partial, store.Partial, agent.CauseFiles, "2 files had problems", 2)
	partial.State = agent.Partial
	states["partial"] = statusWith(partial)

	damaged := photos()
	last(&damaged, store.Failed, agent.CauseMismatch, "hour 13: 1 file damaged", 1)
	damaged.State, damaged.Last.Trigger, damaged.Last.Due = agent.Failed, triggerVerify, time.Time{}
	damaged.Last.ID += "-verify"
	damaged.Board[13].LastRun, damaged.Newest, damaged.NewestHour = damaged.Last.ID, at14.Add(-48*time.Minute), 13
	states["damaged"] = statusWith(damaged)

	held := photos()
	last(&held, store.Held, agent.CauseHeld, "4 210 of 18 404 files would be removed", 0)
	held.State = agent.Held
	held.Board[13].Content = "superset"
	held.Plan = new(engine.Plan)
	if err := json.Unmarshal(literalPlan(), held.Plan); err != nil {
		panic(err)
	}
	states["held"] = statusWith(held)

	fresh := photos()
	fresh.State, fresh.Board, fresh.Newest, fresh.NewestHour, fresh.Last = agent.Never, store.Board{}, time.Time{}, -1, nil
	states["never"] = statusWith(fresh)

	nodrive := photos()
	nodrive.State, nodrive.Cause, nodrive.Missed = agent.NoDrive, agent.CauseNoTarget, 3
	nodrive.Reason = "target is missing: /media/me/Backup-SSD/hourhand/Photos; connect its drive and it goes on by itself"
	states["no-drive"] = statusWith(nodrive)

	nosource := photos()
	last(&nosource, store.Failed, agent.CauseNoSource, "source is missing: /home/me/Pictures", 0)
	nosource.State = agent.NoSource
	states["no-source"] = statusWith(nosource)
	return states
}

// recordOf is the last run as the store has it: with the plan, which a status
// carries beside it.
func recordOf(j agent.JobStatus) store.Run {
	r := *j.Last
	if j.Plan != nil {
		r.Plan = literalPlan()
	}
	return r
}

func literalPlan() json.RawMessage {
	items := ""
	for i := range 40 {
		items += fmt.Sprintf(`,{"op":"remove","path":"2019/Spain/IMG_%04d.CR3","bytes":%d,"reason":"not in the source"}`, i, 24_000_000+i*1000)
	}
	return json.RawMessage(`{"id":"p1","reason":"4 210 of 18 404 files would be removed","against":"12","add":{"files":12,"bytes":1000000},"replace":{"files":3,"bytes":9000000},"remove":{"files":4210,"bytes":98000000000},"of":18404,"items":[` + items[1:] + `]}`)
}

// withHistory fills a store with a week of runs of each job, so that tables have
// something to show; the newest run of the status is among them.
func withHistory(t testing.TB, st *store.Store, s agent.Status) {
	t.Helper()
	put := func(r store.Run, problems []store.Problem) {
		if err := st.Finish(r, problems, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, j := range s.Jobs {
		job := j.Job
		if _, err := st.PutJob(job); err != nil {
			t.Fatal(err)
		}
		for back := 6*24 + 5; back > 0; back-- {
			due := at14.Truncate(time.Hour).Add(-time.Duration(back) * time.Hour)
			r := runFor(job, due, store.Done)
			switch {
			case back == 10 || back == 100:
				r.Outcome, r.Cause, r.Reason, r.Sealed = store.Failed, agent.CauseFull, "target is full: 6 GB more are needed", false
			case back == 17 || back == 18:
				r.Outcome, r.Cause, r.Reason = store.Skipped, agent.CausePaused, "paused"
			}
			put(*r, nil)
		}
		if j.Last != nil {
			put(recordOf(j), literalProblems()[:min(int(j.Last.ProblemCount), 9)])
		}
	}
}

func literalProblems() []store.Problem {
	var list []store.Problem
	for i, cause := range []string{"permission", "changed", "permission", "name", "mismatch", "rot", "listing", "too-large", "read"} {
		list = append(list, store.Problem{Path: fmt.Sprintf("2024/Iceland/IMG_%d.CR3", 4400+i), Error: "no right to read it: permission denied", Cause: cause})
	}
	return list
}

// TestHeldRunLeadsToItsList: wherever a held run is told of, the list is one
// click away and can be approved.
func TestHeldRunLeadsToItsList(t *testing.T) {
	st := literalStates()["held"]
	at := newSite(t, show(st))
	withHistory(t, at.store, st)
	list := runURL(st.Jobs[0].Last.ID)
	for _, page := range []string{"/", "/jobs/photos", "/jobs/photos/hours/13"} {
		_, html := at.get(t, page)
		for _, want := range []string{`href="` + list + `#plan">See the list`, `action="/jobs/photos/approve"`, `name="plan" value="p1"`} {
			if !strings.Contains(html, want) {
				t.Errorf("%s has no %s", page, want)
			}
		}
	}
	if _, html := at.get(t, list); !strings.Contains(html, `id="plan"`) || !strings.Contains(html, `name="plan" value="p1"`) {
		t.Error("the run's page has no list to approve")
	}
	if _, html := at.get(t, "/jobs/photos/hours/12"); strings.Contains(html, "See the list") {
		t.Error("an hour that holds nothing offers the list")
	}
}

// TestPausedSaysNothingUntrue: a paused run has no speed, and a pause does not end
// before it says so.
func TestPausedSaysNothingUntrue(t *testing.T) {
	r := *working(photos(), 0.5).Run
	r.Progress.Paused = true
	if got := liveOf(r).Numbers[0]; got.Value != "–" {
		t.Errorf("got %+v, want no speed", got)
	}
	if got := untilOf(agent.Pause{On: true, Until: at14.Add(time.Second)}, at14); got != "until 13:53" {
		t.Errorf("a pause that ends a second after 13:52 is said to last %s, want until 13:53", got)
	}
}

// TestLongListsAreFolded: empty hours and the rest of a long plan do not push what
// follows far down.
func TestLongListsAreFolded(t *testing.T) {
	states := literalStates()
	var l literal
	l.set(states["never"])
	at := newSite(t, l.into)
	withHistory(t, at.store, states["held"])
	_, html := at.get(t, "/jobs/photos")
	if strings.Contains(html, `class="list hours"`) || strings.Count(html, `class="empties`) != 1 || !strings.Contains(html, `<a href="/jobs/photos/hours/05">05</a>`) {
		t.Error("empty hours are not folded")
	}
	l.set(states["held"])
	_, html = at.get(t, runURL(states["held"].Jobs[0].Last.ID))
	open, folded, _ := strings.Cut(html, `<details class="fold"><summary>Show 20 more`)
	if strings.Count(open, "IMG_00") != openItems || strings.Count(folded, "IMG_00") != 20 {
		t.Errorf("%d of the list are shown at once, want %d", strings.Count(open, "IMG_00"), openItems)
	}
}

func TestProblemsOfOneCauseAreFolded(t *testing.T) {
	many := make([]store.Problem, openItems+3)
	for i := range many {
		many[i].Cause = "permission"
	}
	groups := groupProblems(store.Run{}, many)
	if len(groups) != 1 || groups[0].Count != "23 files" || len(groups[0].Files) != openItems || len(groups[0].Rest) != 3 {
		t.Errorf("got %+v", groups)
	}
}

// TestApprovedListSaysSo: the page of a held run tells what became of its list.
func TestApprovedListSaysSo(t *testing.T) {
	st := literalStates()["held"]
	held := recordOf(st.Jobs[0])
	done := runFor(st.Jobs[0].Job, held.Due, store.Done)
	done.ID, done.Trigger, done.Started = "approved", triggerApprove, held.Ended.Add(time.Minute)
	idle := photos()
	idle.Last = done
	var l literal
	l.set(st)
	at := newSite(t, l.into)
	withHistory(t, at.store, st)
	l.set(statusWith(idle))
	if _, html := at.get(t, runURL(held.ID)); !strings.Contains(html, "a newer run took its place") || strings.Contains(html, "Approve this list") {
		t.Error("a list that nobody approved still seems to wait")
	}
	if err := at.store.Finish(*done, nil, nil); err != nil {
		t.Fatal(err)
	}
	at.recent.key = ""
	if _, html := at.get(t, runURL(held.ID)); !strings.Contains(html, "Approved. What became of it:") || !strings.Contains(html, `<a href="/runs/approved">run of today 13:00</a>`) {
		t.Error("an approved list does not lead to its run")
	}
}

func TestProofNotes(t *testing.T) {
	n := func(files int64) store.Count { return store.Count{Files: files} }
	for _, c := range []struct {
		run  store.Run
		want string
	}{
		{store.Run{Sealed: true, Unchanged: n(5)}, "Nothing was copied"},
		{store.Run{Sealed: true, Copied: n(189), Verified: store.Verified{Cache: n(187)}}, "2 files of what was copied have no bytes"},
		{store.Run{Sealed: true, Copied: n(5), Verified: store.Verified{Device: n(5)}}, ""},
		{store.Run{Sealed: true, Copied: n(5)}, ""}, // no proof was asked for
		{store.Run{Trigger: triggerVerify, Sealed: true}, ""},
	} {
		if got := strings.Join(proofNotes(c.run), " "); (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.run, got, c.want)
		}
	}
}
