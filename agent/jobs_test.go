package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

func fields(err error) (list []string) {
	for _, e := range FieldErrors(err) {
		list = append(list, e.Field)
	}
	slices.Sort(list)
	return list
}

func TestSaveJobTellsEachWrongField(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		other := w.job("Music", "0 * * * *", "usb")
		dir := w.t.TempDir()
		good := store.Job{Name: "Photos", Source: filepath.Join(dir, "Photos"), Target: filepath.Join(dir, "copies"), Schedule: "0 * * * *"}
		for _, c := range []struct {
			name  string
			spoil func(*store.Job)
			want  []string
		}{
			{"all at once", func(j *store.Job) {
				*j = store.Job{Schedule: "hourly", Mode: "sync", Verify: "yes", Profile: "fast", Keep: "long", MaxDelete: "all",
					RetryWait: "soon", Workers: -1, Limit: -1, Excludes: []string{"[a"}}
			}, []string{"excludes", "keep", "limit", "max_delete", "mode", "name", "profile", "retry_wait", "schedule", "source", "target", "verify", "workers"}},
			{"name taken", func(j *store.Job) { j.Name = "music" }, []string{"name"}},
			{"target taken", func(j *store.Job) { j.Target = other.Target }, []string{"target"}},
			{"target inside another's", func(j *store.Job) { j.Target = filepath.Join(other.Target, "x") }, []string{"target"}},
			{"target around another's", func(j *store.Job) { j.Target = filepath.Dir(other.Target) }, []string{"target"}},
			{"relative paths", func(j *store.Job) { j.Source, j.Target = "Photos", "copies" }, []string{"source", "target"}},
			{"parent missing", func(j *store.Job) { j.Target = filepath.Join(dir, "no", "copies") }, []string{"target"}},
		} {
			j := good
			c.spoil(&j)
			if _, _, err := w.SaveJob(j); !slices.Equal(fields(err), c.want) {
				t.Errorf("%s: fields %v, want %v (%v)", c.name, fields(err), c.want, err)
			}
		}
		for field, refuse := range map[string]error{"source": engine.ErrNoSource, "target": engine.ErrOverlap} {
			a := w.Agent.engine
			w.Agent.engine.check = func(engine.Mirror) error { return fmt.Errorf("%w: there", refuse) }
			if _, _, err := w.SaveJob(good); !slices.Equal(fields(err), []string{field}) {
				t.Errorf("%v: fields %v", refuse, fields(err))
			}
			w.Agent.engine = a
		}
		if jobs, _ := w.config.Store.Jobs(); len(jobs) != 1 {
			t.Errorf("%d jobs are stored, want the first alone", len(jobs))
		}
		if _, err := os.Stat(good.Target); err == nil {
			t.Error("a refused job made its target")
		}
	})
}

func TestSaveJobMakesAndMarksTheTarget(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		dir := w.t.TempDir()
		j := store.Job{Name: " Photos ", Source: dir + "/Photos/", Target: filepath.Join(dir, "copies")}
		w.Agent.engine.remark = func(string, string, engine.Owner) error { return engine.ErrLost }
		if _, _, err := w.SaveJob(j); !slices.Equal(fields(err), []string{"target"}) {
			t.Errorf("a target that cannot be marked: %v", err)
		}
		if jobs, _ := w.config.Store.Jobs(); len(jobs) != 0 || exists(j.Target) {
			t.Errorf("%d jobs, target there: %v", len(jobs), exists(j.Target))
		}
		var marked engine.Owner
		w.Agent.engine.remark = func(_, _ string, o engine.Owner) error { marked = o; return nil }
		saved, _, err := w.SaveJob(j)
		if err != nil {
			t.Fatal(err)
		}
		if saved.Name != "Photos" || saved.Source != filepath.Join(dir, "Photos") || saved.Mode != "mirror" || saved.Verify != "full" || !saved.Created.Equal(w.clock()) {
			t.Errorf("saved %+v", saved)
		}
		if marked.JobID != saved.ID || !strings.Contains(string(marked.Job), `"name":"Photos"`) || !exists(j.Target) {
			t.Errorf("marked as %s %s", marked.JobID, marked.Job)
		}
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestEditNeedsNoDriveUnlessFoldersChange(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.engine.edit(func() { w.engine.missing[j.Target] = true })
		marks := w.engine.remarks
		j.Schedule = "30 * * * *"
		if _, _, err := w.SaveJob(j); err != nil || w.engine.remarks != marks {
			t.Errorf("edit without drive: %v, %d marks", err, w.engine.remarks-marks)
		}
		if next := w.of(j).Next; next.Minute() != 30 {
			t.Errorf("next due %v", next)
		}
		w.engine.edit(func() { w.engine.missing[j.Target] = false })
		if _, err := w.Start(j.ID, -1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		j.Source += "2"
		if _, _, err := w.SaveJob(j); !errors.Is(err, ErrBusy) {
			t.Errorf("another source during a run: %v", err)
		}
		w.sleep(2 * time.Minute)
		if _, _, err := w.SaveJob(j); err != nil || w.engine.remarks != marks+1 {
			t.Errorf("another source after it: %v", err)
		}
	})
}

func TestAnotherDriveEndsTheWait(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		one, other := w.job("One", "", "usb"), w.job("Other", "", "usb")
		for _, j := range []store.Job{one, other} {
			if _, err := w.Start(j.ID, -1); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		other.Target = filepath.Join(w.t.TempDir(), "nas")
		w.engine.own("nas", other.Source, other.Target)
		if _, _, err := w.SaveJob(other); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := w.of(other).State; got != Running {
			t.Errorf("on a drive of its own: %v, want running", got)
		}
	})
}

func TestAdoptJobTakesOverOnce(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		dir := w.t.TempDir()
		j, _, err := w.AdoptJob(store.Job{Name: "Photos", Source: dir + "/a", Target: dir + "/b", Schedule: "0 * * * *"})
		if err != nil {
			t.Fatal(err)
		}
		if w.engine.remarks != 0 {
			t.Error("a target that is to be adopted was marked before its run")
		}
		w.sleep(2 * time.Hour)
		if !w.engine.orders()[0].Adopt || w.engine.orders()[1].Adopt {
			t.Errorf("adopt %v, %v, want the first run alone", w.engine.orders()[0].Adopt, w.engine.orders()[1].Adopt)
		}
		w.want("records", w.records(j), "01T11:00Z done schedule 11", "01T12:00Z done schedule 12")
	})
}

func TestRemoveJobCancelsItsRun(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		j := w.job("Photos", "0 * * * *", "usb")
		w.sleep(30*time.Minute + 10*time.Second)
		if err := w.RemoveJob("photos"); err != nil {
			t.Fatal(err)
		}
		if got := w.Status().Jobs; len(got) != 0 {
			t.Errorf("jobs %v", got)
		}
		w.sleep(2 * time.Hour)
		if len(w.engine.orders()) != 1 || !exists(j.Target) {
			t.Errorf("%d runs, target there: %v", len(w.engine.orders()), exists(j.Target))
		}
		if err := w.RemoveJob(j.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("again: %v", err)
		}
		if found, err := w.config.Store.Setting(settingSince(j.ID), new(any)); found || err != nil {
			t.Errorf("its settings stay: %v, %v", found, err)
		}
	})
}

func TestJobBecomesTheEnginesOrder(t *testing.T) {
	m, err := Settings(store.Job{
		ID: "id", Source: "/s", Mode: "changes", Verify: "source", Profile: "full", Keep: "2d", MaxDelete: "10%", RetryWait: "1m",
		Workers: 3, Retries: -1, Excludes: []string{"*.tmp"}, NoDefaultExcludes: true, DeleteExcluded: true, Checksum: true, TrustIndex: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.Source != "/s" || m.Mode != engine.ModeChanges || m.Verify != engine.VerifySource || m.Profile != engine.ProfileFull ||
		m.Keep != 48*time.Hour || m.MaxDelete.Percent != 10 || m.RetryWait != time.Minute || m.Workers != 3 || m.Retries != -1 ||
		len(m.Excludes) != 1 || !m.NoDefaults || !m.DeleteExcluded || !m.Checksum || !m.TrustIndex || m.Owner.JobID != "id" {
		t.Errorf("got %+v", m)
	}
}

func TestWarnings(t *testing.T) {
	inWorld(t, date(t, "UTC", "2026-06-01 10:30"), func(w *world) {
		dir := w.t.TempDir()
		source, target := filepath.Join(dir, "source"), filepath.Join(dir, "copies")
		for name, size := range map[string]int{"a": 700, "sub/b": 300, "sub/c.tmp": 5000, "lost+found/d": 9000} {
			path := filepath.Join(source, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		free := int64(23_999)
		same := "usb"
		w.Agent.engine.drive = func(path string) (engine.Drive, error) {
			if path == source {
				return engine.Drive{ID: same}, nil
			}
			return engine.Drive{ID: "usb", Free: free, Durable: "no barriers"}, nil
		}
		j := store.Job{Name: "Photos", Source: source, Target: target, Schedule: "0 * * * *", Excludes: []string{"*.tmp"}}
		_, got, err := w.SaveJob(j)
		if err != nil || len(got) != 3 || !strings.Contains(got[0], "same drive") || !strings.Contains(got[1], "no barriers") ||
			!strings.Contains(got[2], "24 copies of 1.0 kB will not fit: they need 24 kB") {
			t.Errorf("warnings %q, %v", got, err)
		}
		same = "disk"
		for name, edit := range map[string]func(*store.Job){
			"room for all": func(*store.Job) { free = 24_000 },
			"fewer hours":  func(j *store.Job) { free, j.Schedule = 12_000, "0 8-19 * * *" },
			"only changes": func(j *store.Job) { free, j.Mode = 0, "changes" },
		} {
			again := j
			again.Name, again.Target = name, filepath.Join(dir, name)
			edit(&again)
			if _, got, err := w.SaveJob(again); err != nil || len(got) != 1 {
				t.Errorf("%s: warnings %q, %v", name, got, err)
			}
		}
	})
}
