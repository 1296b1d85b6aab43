package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// flagged is the job that these flags make of one.
func flagged(t *testing.T, job store.Job, in string, args ...string) store.Job {
	t.Helper()
	var c copyFlags
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	c.bind(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := c.put(f, strings.NewReader(in), &job); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestFlagsChangeOnlyWhatTheyName(t *testing.T) {
	job := store.Job{Name: "n", Verify: "source", Profile: "full", Limit: 5, Retries: 7, Excludes: []string{"a"}, Checksum: true}
	if got := flagged(t, job, ""); !reflect.DeepEqual(got, job) {
		t.Errorf("without flags: got %+v, want %+v", got, job)
	}
	want := job
	want.Limit, want.Checksum = 20_000_000, false
	if got := flagged(t, job, "", "--limit", "20M", "--checksum=false"); !reflect.DeepEqual(got, want) {
		t.Errorf("with two flags: got %+v, want %+v", got, want)
	}
}

func TestExcludesOfFlagsFilesAndInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "patterns")
	if err := os.WriteFile(file, []byte("# comment\r\n\r\n*.tmp\r\n\\#kept\n two blanks \n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := flagged(t, store.Job{}, "from-input\n", "--exclude", "a,b", "--exclude-from", file, "--exclude-from", "-", "--exclude", "c").Excludes
	want := []string{"a,b", "c", "*.tmp", `\#kept`, " two blanks ", "from-input"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOrderOfFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want engine.Mirror
	}{
		{nil, engine.Mirror{Retries: 2}},
		{[]string{"--verify", "source", "--background"}, engine.Mirror{Retries: 2, Verify: engine.VerifySource, Profile: engine.ProfileGentle}},
		{[]string{"--verify=none", "--profile=full", "--workers=3"}, engine.Mirror{Retries: 2, Verify: engine.VerifyNone, Profile: engine.ProfileFull, Workers: 3}},
		{[]string{"--retries=0", "--retry-wait=10ms"}, engine.Mirror{Retries: -1, RetryWait: 10 * time.Millisecond}},
		{[]string{"--max-delete=0"}, engine.Mirror{Retries: 2, MaxDelete: engine.MaxDelete{Set: true}}},
		{[]string{"--max-delete=10%"}, engine.Mirror{Retries: 2, MaxDelete: engine.MaxDelete{Percent: 10, Set: true}}},
		{[]string{"--no-default-excludes", "--delete-excluded", "--checksum", "--trust-index"},
			engine.Mirror{Retries: 2, NoDefaults: true, DeleteExcluded: true, Checksum: true, TrustIndex: true}},
	} {
		got, err := mirrorOf(flagged(t, newJob(), "", c.args...))
		got.Gate = nil
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %+v, %v, want %+v", c.args, got, err, c.want)
		}
	}
}

func TestHoursAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int
		ok   bool
	}{
		{"", nil, true},
		{"0", []int{0}, true},
		{"00, 9,23", []int{0, 9, 23}, true},
		{"24", nil, false},
		{"-1", nil, false},
		{"1,,2", nil, false},
		{"007", nil, false},
		{"x", nil, false},
	} {
		got, err := parseHours(c.text)
		if (err == nil) != c.ok || !slices.Equal(got, c.want) {
			t.Errorf("parseHours(%q): got %v, %v, want %v", c.text, got, err, c.want)
		}
		if !c.ok && codeOf(err) != codeUsage {
			t.Errorf("parseHours(%q): got exit code %d, want 2", c.text, codeOf(err))
		}
	}
}

func TestAnEmptyExcludeClearsTheList(t *testing.T) {
	c := &copyFlags{excludes: []string{""}}
	if got, err := c.patterns(nil); err != nil || len(got) != 0 {
		t.Errorf("got %q, %v, want none", got, err)
	}
}
