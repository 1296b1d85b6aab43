package store

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Job is what is copied, from where, to where, when and how.
type Job struct {
	ID                string    `json:"id"`   // random, for ever
	Name              string    `json:"name"` // unique, shown everywhere; letters, digits, blank, - _ .
	Source            string    `json:"source"`
	Target            string    `json:"target"`
	Mode              string    `json:"mode"`            // "mirror" or "changes"
	Schedule          string    `json:"schedule"`        // cron, five fields, local time; "" = only by hand
	Keep              string    `json:"keep,omitempty"`  // mode changes: Go duration or "2d"
	Verify            string    `json:"verify"`          // "full", "source", "none"
	Profile           string    `json:"profile"`         // "gentle", "normal", "full"
	Limit             int64     `json:"limit,omitempty"` // bytes/s, 0 = none
	Workers           int       `json:"workers,omitempty"`
	Retries           int       `json:"retries"`
	RetryWait         string    `json:"retry_wait,omitempty"`
	MaxDelete         string    `json:"max_delete,omitempty"` // "N" or "P%"; "" = the default
	Excludes          []string  `json:"excludes,omitempty"`
	NoDefaultExcludes bool      `json:"no_default_excludes,omitempty"`
	DeleteExcluded    bool      `json:"delete_excluded,omitempty"`
	Checksum          bool      `json:"checksum,omitempty"`
	TrustIndex        bool      `json:"trust_index,omitempty"`
	Disabled          bool      `json:"disabled,omitempty"`
	Created           time.Time `json:"created"`
}

// JobError is a job that cannot be stored: which field is wrong, and the sentence
// for a person.
type JobError struct {
	Field string // "id", "name", "source", "target", "excludes"
	Text  string
}

func (e *JobError) Error() string { return e.Text }

// checkJob tells whether j can stand beside the other jobs. *JobError.
func checkJob(j Job, jobs []Job) error {
	if !validID(j.ID) {
		return &JobError{"id", fmt.Sprintf("%q cannot be the id of a job", j.ID)}
	}
	if !validName(j.Name) {
		return &JobError{"name", fmt.Sprintf("%q cannot be the name of a job; "+
			"use 1 to 64 letters, digits, blanks and - _ . with no blank at the ends", j.Name)}
	}
	if !utf8.ValidString(j.Source) || !utf8.ValidString(j.Target) {
		field, path := "source", j.Source
		if utf8.ValidString(path) {
			field, path = "target", j.Target
		}
		return &JobError{field, fmt.Sprintf("the name of the %s folder is not text (UTF-8): %q; rename it, or link to it", field, path)}
	}
	for _, pattern := range j.Excludes {
		if !utf8.ValidString(pattern) {
			return &JobError{"excludes", fmt.Sprintf("the pattern is not text (UTF-8): %q", pattern)}
		}
	}
	return checkUnique(j, jobs)
}

func checkUnique(j Job, jobs []Job) error {
	for _, o := range jobs {
		switch {
		case o.ID == j.ID:
		case foldText(o.Name) == foldText(j.Name):
			return &JobError{"name", fmt.Sprintf("another job is named %q; choose another name", o.Name)}
		case j.Target != "" && sameTarget(o.Target, j.Target):
			return &JobError{"target", fmt.Sprintf("the job %q has this target already: %s; each job needs its own", o.Name, o.Target)}
		}
	}
	return nil
}

func sameTarget(a, b string) bool {
	a, b = filepath.Clean(a), filepath.Clean(b)
	if runtime.GOOS == "windows" {
		return foldText(a) == foldText(b)
	}
	return a == b
}

// validName keeps names fit for a command line, a file name and a page.
func validName(name string) bool {
	if name == "" || utf8.RuneCountInString(name) > 64 || strings.Trim(name, " ") != name {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune(" -_.", r)
	}) < 0 && utf8.ValidString(name)
}
