package web

import (
	"strings"
	"testing"
	"time"
)

// plain makes spaces of all kinds comparable in a table.
func plain(s string) string { return strings.NewReplacer(thinSpace, "'", hardSpace, "_").Replace(s) }

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(18404), "18'404"}, {count(1234567), "1'234'567"}, {count(-1234), "-1'234"},
		{files(1), "1 file"}, {files(0), "0 files"}, {files(4210), "4'210 files"},
		{size(0), "0_B"}, {size(999), "999_B"}, {size(1000), "1.0_kB"}, {size(4_200_000), "4.2_MB"}, {size(41_300_000), "41.3_MB"},
		{size(118_000_000), "118_MB"}, {size(999_499_999), "999_MB"}, {size(999_500_000), "1.0_GB"}, {size(18_100_000_000), "18.1_GB"},
		{size(99_960_000_000), "100_GB"}, {size(9_000_000_000_000_000_000), "9000_PB"},
		{sizeOf(11_200_000_000, 18_100_000_000), "11.2 of 18.1_GB"}, {sizeOf(0, 999), "0 of 999_B"},
		{speed(118e6), "118_MB/s"},
		{percent(0), "0%"}, {percent(0.625), "62%"}, {percent(0.9999), "99%"}, {percent(1), "100%"},
	} {
		if plain(c.got) != c.want {
			t.Errorf("got %s, want %s", plain(c.got), c.want)
		}
	}
}

func TestDurations(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{took(1500 * time.Millisecond), "1.5_s"}, {took(42 * time.Second), "42_s"},
		{took(3*time.Minute + 58*time.Second), "3_min 58_s"}, {took(130 * time.Minute), "2_h 10_min"}, {took(-time.Second), ""},
		{about(3 * time.Second), "a few seconds"}, {about(42 * time.Second), "about 40_s"}, {about(58 * time.Second), "about 1_min"},
		{about(61 * time.Second), "about 1_min"}, {about(150 * time.Second), "about 3_min"}, {about(130 * time.Minute), "about 2_h 10_min"},
	} {
		if plain(c.got) != c.want {
			t.Errorf("got %s, want %s", plain(c.got), c.want)
		}
	}
}

func TestMoments(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 26, 13, 52, 0, 0, berlin) // the clock went back the night before
	for _, c := range []struct {
		at        time.Time
		want, age string
	}{
		{now, "13:52", "just now"},
		{now.Add(-48 * time.Minute), "13:04", "48 minutes ago"},
		{time.Date(2026, 10, 26, 0, 0, 0, 0, berlin), "00:00", "13 hours ago"},
		{time.Date(2026, 10, 25, 0, 30, 0, 0, berlin), "yesterday 00:30", "38 hours ago"},
		{time.Date(2026, 10, 24, 23, 59, 0, 0, berlin), "Sat 23:59", "38 hours ago"},
		{time.Date(2026, 10, 20, 18, 2, 0, 0, berlin), "Tue 18:02", "5 days ago"},
		{time.Date(2026, 10, 19, 18, 2, 0, 0, berlin), "19 Oct 18:02", "6 days ago"},
		{time.Date(2025, 11, 24, 18, 2, 0, 0, berlin), "24 Nov 2025, 18:02", "335 days ago"},
		{time.Date(2026, 10, 27, 8, 0, 0, 0, berlin), "tomorrow 08:00", "just now"},
		{time.Date(2026, 10, 26, 12, 4, 0, 0, time.UTC), "13:04", "48 minutes ago"},
	} {
		if got := moment(now, c.at); got != c.want {
			t.Errorf("%v: got %s, want %s", c.at, got, c.want)
		}
		if got := ago(now, c.at); got != c.age {
			t.Errorf("%v: got %s, want %s", c.at, got, c.age)
		}
	}
	if s := stampOf(now, time.Time{}); s != (stamp{}) {
		t.Errorf("no time: got %+v", s)
	}
}
