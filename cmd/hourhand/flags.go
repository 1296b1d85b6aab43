package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// copyFlags are the flags that say how something is copied. mirror, jobs add and
// jobs edit have them; all three speak of them as a job.
type copyFlags struct {
	verify            string
	checksum          bool
	excludes          []string
	excludesFrom      []string
	noDefaultExcludes bool
	deleteExcluded    bool
	workers           int
	profile           string
	background        bool
	limit             string
	retries           int
	retryWait         time.Duration
	maxDelete         string
	trustIndex        bool
}

func (c *copyFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&c.verify, "verify", "full", "`how` each copy is proved: full (read back), source (hashed while read), none")
	f.BoolVar(&c.checksum, "checksum", false, "compare contents, not only size and times")
	f.StringArrayVar(&c.excludes, "exclude", nil, "leave out what matches this gitignore `pattern` (repeatable)")
	f.StringArrayVar(&c.excludesFrom, "exclude-from", nil, "read such patterns from a `file`, - is standard input (repeatable)")
	f.BoolVar(&c.noDefaultExcludes, "no-default-excludes", false, "do not leave out what systems keep for themselves (recycle bins ...)")
	f.BoolVar(&c.deleteExcluded, "delete-excluded", false, "remove from the target what is excluded")
	f.IntVar(&c.workers, "workers", 0, "files in work at once (0: as many as gain speed on these drives)")
	f.StringVar(&c.profile, "profile", "normal", "how much other programs may lose: gentle (next to nothing), normal (up to a quarter), full (whatever it takes)")
	f.BoolVar(&c.background, "background", false, "the same as --profile gentle")
	f.StringVar(&c.limit, "limit", "", "read at most so many `bytes` a second from the source: 20M is 20,000,000")
	f.IntVar(&c.retries, "retries", 2, "further tries for a file after a passing error")
	f.DurationVar(&c.retryWait, "retry-wait", 5*time.Second, "time before a further try")
	f.StringVar(&c.maxDelete, "max-delete", "", "hold the run when more `files` than this would be removed or replaced: N or P% (default: more than 50 and 25%)")
	f.BoolVar(&c.trustIndex, "trust-index", false, "believe the target's index instead of looking at each file of the target")
}

// put writes the flags that were given into a job; the others leave it as it is.
func (c *copyFlags) put(f *pflag.FlagSet, in io.Reader, j *store.Job) error {
	if c.workers < 0 {
		return usagef("--workers: %d is below 0", c.workers)
	}
	plain := map[string]func(){
		"verify":              func() { j.Verify = c.verify },
		"checksum":            func() { j.Checksum = c.checksum },
		"no-default-excludes": func() { j.NoDefaultExcludes = c.noDefaultExcludes },
		"delete-excluded":     func() { j.DeleteExcluded = c.deleteExcluded },
		"workers":             func() { j.Workers = c.workers },
		"profile":             func() { j.Profile = c.profile },
		"retries":             func() { j.Retries = c.retries },
		"retry-wait":          func() { j.RetryWait = c.retryWait.String() },
		"max-delete":          func() { j.MaxDelete = c.maxDelete },
		"trust-index":         func() { j.TrustIndex = c.trustIndex },
	}
	for name, set := range plain {
		if f.Changed(name) {
			set()
		}
	}
	if c.background {
		j.Profile = "gentle"
	}
	if f.Changed("limit") {
		limit, err := agent.ParseSize(c.limit)
		if err != nil {
			return usagef("--limit: %v", err)
		}
		j.Limit = limit
	}
	if f.Changed("exclude") || f.Changed("exclude-from") {
		patterns, err := c.patterns(in)
		if err != nil {
			return err
		}
		j.Excludes = patterns
	}
	return nil
}

// patterns are those of --exclude, then those of the files, in the order given.
func (c *copyFlags) patterns(in io.Reader) ([]string, error) {
	var all []string
	for _, p := range c.excludes {
		if p != "" { // --exclude '' alone clears the list
			all = append(all, p)
		}
	}
	for _, name := range c.excludesFrom {
		lines, err := readPatterns(name, in)
		if err != nil {
			return nil, usagef("--exclude-from: %v", err)
		}
		all = append(all, lines...)
	}
	return all, nil
}

// readPatterns reads a file of patterns, leaving out empty lines and comments
// as git does.
func readPatterns(name string, in io.Reader) ([]string, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	var patterns []string
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if l := strings.TrimSuffix(lines.Text(), "\r"); l != "" && !strings.HasPrefix(l, "#") {
			patterns = append(patterns, l)
		}
	}
	return patterns, lines.Err()
}
