package agent

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the machine that tests may have no zones

	"github.com/robfig/cron/v3"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func schedule(t testing.TB, line string) Schedule {
	t.Helper()
	s, err := ParseSchedule(line)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dues lists a schedule's dues of one local day with their offsets.
func dues(t *testing.T, line, where, day string) string {
	t.Helper()
	loc := zone(t, where)
	begin, err := time.ParseInLocation(time.DateOnly, day, loc)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	s := schedule(t, line)
	for d := s.Next(begin.Add(-1)); d.Before(begin.AddDate(0, 0, 1)); d = s.Next(d) {
		list = append(list, d.Format("15:04-07:00"))
	}
	return strings.Join(list, " ")
}

func TestScheduleOnTheDaysWhenClocksChange(t *testing.T) {
	for _, c := range []struct{ name, line, where, day, want string }{
		{"forward: the missing hour is not due", "0 0-4 * * *", "Europe/Berlin", "2026-03-29",
			"00:00+01:00 01:00+01:00 03:00+02:00 04:00+02:00"},
		{"back: the repeated hour is due twice", "0 0-4 * * *", "Europe/Berlin", "2026-10-25",
			"00:00+02:00 01:00+02:00 02:00+02:00 02:00+01:00 03:00+01:00 04:00+01:00"},
		{"half an hour forward", "0 0-4 * * *", "Australia/Lord_Howe", "2026-10-04",
			"00:00+10:30 01:00+10:30 03:00+11:00 04:00+11:00"},
		{"half an hour back", "0,30 0-3 * * *", "Australia/Lord_Howe", "2026-04-05",
			"00:00+11:00 00:30+11:00 01:00+11:00 01:30+11:00 01:30+10:30 02:00+10:30 02:30+10:30 03:00+10:30 03:30+10:30"},
		{"half an hour back, later that day", "0 5 * * *", "Australia/Lord_Howe", "2026-04-05", "05:00+10:30"},
		{"half an hour forward, later that day", "0 5 * * *", "Australia/Lord_Howe", "2026-10-04", "05:00+11:00"},
		{"no midnight", "0 0,1,2 * * *", "America/Sao_Paulo", "2018-11-04", "01:00-02:00 02:00-02:00"},
		{"a day in the missing hour only", "30 2 * * *", "Europe/Berlin", "2026-03-29", ""},
		{"a zone of its own", "CRON_TZ=Asia/Kolkata 0 9 * * *", "Europe/Berlin", "2026-07-01", "05:30+02:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := dues(t, c.line, c.where, c.day); got != c.want {
				t.Errorf("dues of %q on %s in %s:\n got %s\nwant %s", c.line, c.day, c.where, got, c.want)
			}
		})
	}
}

// The slow way: ask every minute of more than a year.
func TestScheduleAgreesWithEveryMinute(t *testing.T) {
	for _, where := range []string{"Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll", "Asia/Kathmandu"} {
		for _, line := range []string{"*/20 1-5 * * 1-6", "0 0 1 * 0", "7 3 29 2 *"} {
			s, loc := schedule(t, line), zone(t, where)
			begin := time.Date(2027, 12, 31, 12, 0, 0, 0, loc)
			due, newest := s.Next(begin), s.Newest(begin)
			for m := begin.Add(time.Minute); m.Before(begin.AddDate(0, 14, 0)); m = m.Add(time.Minute) {
				if s.hour(m) && has(s.spec.Minute, m.Minute()) {
					newest = m
				}
				if m.Before(due) {
					if newest.Equal(m) {
						t.Fatalf("%q in %s: Next passed over %v", line, where, m)
					}
					continue
				}
				if !newest.Equal(m) {
					t.Fatalf("%q in %s: Next told %v", line, where, due)
				}
				if got := s.Newest(m.Add(59 * time.Second)); !got.Equal(m) {
					t.Fatalf("%q in %s: Newest(%v) = %v", line, where, m, got)
				}
				due = s.Next(m)
			}
		}
	}
}

func TestScheduleReadsDaysAsCronDoes(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, line := range []string{"0 0 13 * 5", "0 0 13 * *", "0 0 * * 5", "5 4 */2 6 1", "@daily", "@weekly"} {
		reference, err := cron.ParseStandard(line)
		if err != nil {
			t.Fatal(err)
		}
		s, want := schedule(t, line), from
		for got := from; got.Year() < 2028; {
			got, want = s.Next(got), reference.Next(want)
			if !got.Equal(want) {
				t.Fatalf("%q: got %v, want %v", line, got, want)
			}
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	for _, line := range []string{"hourly", "0 * * *", "61 * * * *", "@every 1h", "CRON_TZ=UTC", "CRON_TZ=Nowhere/Here 0 * * * *", "0 0 31 2 *", "*/0 * * * *"} {
		if _, err := ParseSchedule(line); err == nil {
			t.Errorf("%q was accepted", line)
		}
	}
	if s, err := ParseSchedule(" "); err != nil || !s.Next(time.Now()).IsZero() {
		t.Errorf("an empty schedule: %v, due %v", err, s.Next(time.Now()))
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, line := range []string{"0 * * * *", "TZ=", "TZ= ", "CRON_TZ=UTC @hourly", "@every 1s", "0 0 29 2 *", "1-5/2 ? * JAN MON-FRI"} {
		f.Add(line)
	}
	now := time.Date(2026, 6, 1, 12, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, line string) {
		s, err := ParseSchedule(line)
		if err != nil || s.spec == nil {
			return
		}
		next := s.Next(now)
		if got := s.Newest(next); !next.After(now) || !got.Equal(next) {
			t.Errorf("%q: next %v, of which the newest is %v", line, next, got)
		}
	})
}
