package agent

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a cron line of five fields, read in local time unless it begins
// with CRON_TZ=ZONE. The zero value is never due: a job made by hand only.
//
// The line is parsed by robfig/cron; the walk through time is ours. Its Next goes
// in whole hours and so loses every due of the day on which Lord Howe Island moves
// its clocks by half an hour, and it has no way back, which catching up needs.
type Schedule struct {
	spec *cron.SpecSchedule
}

// ParseSchedule reads "" (never), five fields, or a word as @hourly.
func ParseSchedule(line string) (Schedule, error) {
	line = strings.TrimSpace(line)
	if line == "" {
		return Schedule{}, nil
	}
	if strings.Contains(line, "TZ=") && !strings.Contains(line, " ") {
		return Schedule{}, errors.New("schedule names a time zone and nothing else; write for example CRON_TZ=Europe/Berlin 0 * * * *")
	}
	parsed, err := cron.ParseStandard(line)
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule %q cannot be read: %w; write five fields, as 0 * * * * for every full hour", line, err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Schedule{}, fmt.Errorf("schedule %q has no fixed times; write five fields, as 0 * * * * for every full hour", line)
	}
	s := Schedule{spec}
	if s.Next(time.Now()).IsZero() {
		return Schedule{}, fmt.Errorf("schedule %q is never due: there is no such day", line)
	}
	return s, nil
}

// horizon bounds the search for a due: 29 February is eight years away around
// the year 2100.
const horizon = 8*366 + 1 // days

// quarter is a step that never jumps over the beginning of a local hour or day:
// all zones have kept offsets of whole quarters since 1972 (tz database).
const quarter = 15 * time.Minute

// Next is the first due after t, in t's location; zero if there is none.
func (s Schedule) Next(t time.Time) time.Time {
	if s.spec == nil {
		return time.Time{}
	}
	m := t.In(s.zone(t)).Truncate(time.Minute).Add(time.Minute)
	for end := m.AddDate(0, 0, horizon); m.Before(end); {
		switch {
		case !s.hour(m):
			m = m.Truncate(quarter).Add(quarter)
		case !has(s.spec.Minute, m.Minute()):
			m = m.Add(time.Minute)
		default:
			return m.In(t.Location())
		}
	}
	return time.Time{}
}

// Newest is the last due at or before t, in t's location; zero if there is none.
func (s Schedule) Newest(t time.Time) time.Time {
	if s.spec == nil {
		return time.Time{}
	}
	m := t.In(s.zone(t)).Truncate(time.Minute)
	for end := m.AddDate(0, 0, -horizon); m.After(end); {
		switch {
		case !s.hour(m):
			m = m.Truncate(quarter).Add(-time.Minute)
		case !has(s.spec.Minute, m.Minute()):
			m = m.Add(-time.Minute)
		default:
			return m.In(t.Location())
		}
	}
	return time.Time{}
}

func (s Schedule) zone(t time.Time) *time.Location {
	if s.spec.Location == time.Local {
		return t.Location()
	}
	return s.spec.Location
}

// hour tells whether the schedule knows the day and hour of t. As in crontab(5),
// a day of the month and a day of the week that are both given are alternatives.
func (s Schedule) hour(t time.Time) bool {
	const star = 1 << 63 // robfig/cron's mark of a field that was "*"
	day, weekday := has(s.spec.Dom, t.Day()), has(s.spec.Dow, int(t.Weekday()))
	either := s.spec.Dom&star == 0 && s.spec.Dow&star == 0
	return has(s.spec.Hour, t.Hour()) && has(s.spec.Month, int(t.Month())) &&
		(day && weekday || either && (day || weekday))
}

func has(bits uint64, n int) bool { return bits&(1<<n) != 0 }
