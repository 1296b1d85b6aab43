package agent

import (
	"testing"
	"time"

	"github.com/hourhand/hourhand/engine"
)

func TestParseKeep(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
	}{{"", 0}, {"2d", 48 * time.Hour}, {"36h", 36 * time.Hour}, {" 90m ", 90 * time.Minute}} {
		if got, err := ParseKeep(c.text); err != nil || got != c.want {
			t.Errorf("ParseKeep(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"0", "0d", "-2d", "-1h", "2", "d", "two days", "99999999d", "1.5d"} {
		if got, err := ParseKeep(text); err == nil {
			t.Errorf("ParseKeep(%q) = %v", text, got)
		}
	}
}

func TestParseMaxDelete(t *testing.T) {
	for _, c := range []struct {
		text string
		want engine.MaxDelete
	}{
		{"", engine.MaxDelete{}},
		{"0", engine.MaxDelete{Set: true}},
		{"200", engine.MaxDelete{Files: 200, Set: true}},
		{"10%", engine.MaxDelete{Percent: 10, Set: true}},
		{"2.5 %", engine.MaxDelete{Percent: 2.5, Set: true}},
	} {
		if got, err := ParseMaxDelete(c.text); err != nil || got != c.want {
			t.Errorf("ParseMaxDelete(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"-1", "101%", "-1%", "NaN%", "ten", "%", "5.5"} {
		if got, err := ParseMaxDelete(text); err == nil {
			t.Errorf("ParseMaxDelete(%q) = %v", text, got)
		}
	}
}

func TestParseSizeAndBack(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		back string
	}{{"", 0, "0"}, {"0", 0, "0"}, {"20M", 20_000_000, "20M"}, {"1.5G", 1_500_000_000, "1500M"}, {"500k", 500_000, "500K"}, {"1Mi", 1 << 20, "1048576"}, {"123", 123, "123"}} {
		got, err := ParseSize(c.text)
		if err != nil || got != c.want {
			t.Errorf("ParseSize(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
		if back := FormatSize(got); back != c.back {
			t.Errorf("FormatSize(%d) = %q, want %q", got, back, c.back)
		}
	}
	for _, text := range []string{"-1", "M", "20 apples", "20E", "1e9"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %v", text, got)
		}
	}
}

func TestParseUntil(t *testing.T) {
	now := time.Date(2026, 3, 28, 15, 0, 0, 0, zone(t, "Europe/Berlin")) // the clocks change in the night
	for _, c := range []struct{ text, want string }{
		{"30m", "2026-03-28T15:30:00+01:00"},
		{"16:30", "2026-03-28T16:30:00+01:00"},
		{"15:00", "2026-03-29T15:00:00+02:00"},
		{"9:05", "2026-03-29T09:05:00+02:00"},
		{"tomorrow", "2026-03-29T08:00:00+02:00"},
	} {
		if got, err := ParseUntil(c.text, now); err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("ParseUntil(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
	if got, err := ParseUntil("", now); err != nil || !got.IsZero() {
		t.Errorf(`ParseUntil("") = %v, %v, want the zero time`, got, err)
	}
	for _, text := range []string{"-5m", "0", "25:00", "later"} {
		if got, err := ParseUntil(text, now); err == nil {
			t.Errorf("ParseUntil(%q) = %v", text, got)
		}
	}
}
