package agent

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/hourhand/hourhand/engine"
)

// This file reads what people type into forms and flags: the command line, the
// dashboard and SaveJob share it, so that one text means one thing everywhere.

// ParseKeep reads a time to keep changed files: days as "2d", or a Go duration as
// "36h". "" is 0, the default (48 hours).
func ParseKeep(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	keep, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		var n int
		n, err = strconv.Atoi(days)
		if err == nil && n > maxDays {
			err = strconv.ErrRange
		}
		keep = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || keep <= 0 {
		return 0, fmt.Errorf("time to keep %q cannot be read; write days or hours, as 2d or 36h", text)
	}
	return keep, nil
}

const maxDays = 100 * 365 // what a time.Duration holds, and then some

// ParseMaxDelete reads how many removals and replacements pass without asking:
// a number of files as "200", or a share of the newest copy as "10%". "" is the
// default (more than 50 files and more than 25 % are held).
func ParseMaxDelete(text string) (engine.MaxDelete, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return engine.MaxDelete{}, nil
	}
	if percent, isPercent := strings.CutSuffix(text, "%"); isPercent {
		p, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err == nil && p >= 0 && p <= 100 {
			return engine.MaxDelete{Percent: p, Set: true}, nil
		}
	} else if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return engine.MaxDelete{Files: n, Set: true}, nil
	}
	return engine.MaxDelete{}, fmt.Errorf("most removals %q cannot be read; write a number of files or a share of them, as 200 or 10%%", text)
}

// ParseSize reads a number of bytes, as "20M" with M = 10^6; Mi is 2^20. "" is 0.
func ParseSize(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("size %q cannot be read; write bytes, or K, M, G for thousands, millions and billions of them, as 20M", text)
	}
	return int64(n), nil
}

// FormatSize writes n so that ParseSize reads the same number again: "20M", "1500".
func FormatSize(n int64) string {
	unit := ""
	for _, next := range []string{"K", "M", "G", "T"} {
		if n == 0 || n%1000 != 0 {
			break
		}
		n, unit = n/1000, next
	}
	return strconv.FormatInt(n, 10) + unit
}

// ParseUntil reads when a pause ends: after a time as "30m", at a clock time as
// "16:30" (today, or tomorrow if that has passed), or at 8 in the morning for
// "tomorrow". "" is the zero time: until resumed.
func ParseUntil(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "":
		return time.Time{}, nil
	case "tomorrow":
		return at(now, 1, 8, 0), nil
	}
	if length, err := time.ParseDuration(text); err == nil && length > 0 {
		return now.Add(length), nil
	}
	clock, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{}, fmt.Errorf("pause %q cannot be read; write how long or until when, as 30m or 16:30", text)
	}
	until := at(now, 0, clock.Hour(), clock.Minute())
	if !until.After(now) {
		until = at(now, 1, clock.Hour(), clock.Minute())
	}
	return until, nil
}

// at is a clock time some days after t's.
func at(t time.Time, days, hour, minute int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, hour, minute, 0, 0, t.Location())
}
