package web

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// sizeLife is how long a counted folder is taken as it was.
const sizeLife = 10 * time.Minute

// sizes counts folders in the background for the assistant, one at a time, so
// that no step waits for a disk.
type sizes struct {
	mu      sync.Mutex // guards the fields below
	known   map[rawPath]folderSize
	queue   []rawPath
	running bool
	closed  bool
}

// folderSize is what is counted so far.
type folderSize struct {
	files, bytes int64
	skips        map[string]int64 // bytes in folders that can be rebuilt, by their name
	done         bool
	at           time.Time
}

// rebuildable are folders whose contents come back by a command.
var rebuildable = []string{"node_modules", ".cache", "__pycache__", ".venv", ".gradle", ".tox", ".npm", ".terraform"}

func newSizes() *sizes { return &sizes{known: map[rawPath]folderSize{}} }

// want returns what is known of a folder and has the rest counted.
func (s *sizes) want(p rawPath) folderSize {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, known := s.known[p]
	if known && (!size.done || time.Since(size.at) < sizeLife) || s.closed {
		return size
	}
	s.known[p] = folderSize{}
	s.queue = append(s.queue, p)
	if !s.running {
		s.running = true
		go s.work() // ends with the queue, or by close
	}
	return folderSize{}
}

// close ends the counting soon.
func (s *sizes) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.queue = true, nil
}

func (s *sizes) work() {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.running = false
			s.mu.Unlock()
			return
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		s.count(next)
	}
}

// reportEvery is how many entries are counted between two reports.
const reportEvery = 500

// count walks a folder. What cannot be read counts nothing: it is a guess for a
// person, not a plan.
func (s *sizes) count(root rawPath) {
	sum := folderSize{skips: map[string]int64{}}
	seen := 0
	_ = filepath.WalkDir(string(root), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if seen++; seen%reportEvery == 0 && !s.report(root, sum) {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum.files++
			sum.bytes += info.Size()
			if name := rebuildableIn(path); name != "" {
				sum.skips[name] += info.Size()
			}
		}
		return nil
	})
	sum.done, sum.at = true, time.Now()
	s.report(root, sum)
}

// report puts a copy of the sum in place; false when the counting shall end.
func (s *sizes) report(root rawPath, sum folderSize) bool {
	sum.skips = maps.Clone(sum.skips)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[root] = sum
	return !s.closed
}

func rebuildableIn(path string) string {
	for part := range strings.SplitSeq(path, string(filepath.Separator)) {
		if slices.Contains(rebuildable, part) {
			return part
		}
	}
	return ""
}

func (f folderSize) word() string {
	switch {
	case f.done:
		return size(f.bytes)
	case f.files == 0:
		return "counting…"
	}
	return size(f.bytes) + " so far"
}

// sum adds up the chosen folders.
func (s *Server) sumOf(folders []rawPath) folderSize {
	sum := folderSize{done: true, skips: map[string]int64{}}
	for _, f := range folders {
		one := s.sizes.want(f)
		sum.bytes += one.bytes
		sum.files += one.files
		sum.done = sum.done && one.done
		for name, n := range one.skips {
			sum.skips[name] += n
		}
	}
	return sum
}

func sizeID(i int) string { return fmt.Sprintf("size-%d", i) }

// sizePart is one number that a page asks for again and again.
type sizePart struct{ ID, Text string }

// sendSizes answers the page's question for newer numbers.
func (s *Server) sendSizes(w http.ResponseWriter, d draft) {
	var parts []sizePart
	for i, p := range offered(d) {
		parts = append(parts, sizePart{sizeID(i), s.sizes.want(p).word()})
	}
	for i, f := range s.fitViews(d) {
		parts = append(parts, sizePart{fmt.Sprintf("fit-%d", i), f.Text})
	}
	s.page(w, http.StatusOK, "sizes", parts)
}

// fitView is one choice of times with the space that it needs.
type fitView struct {
	Value, Label, Text string
	Class              string
	On                 bool
}

func (s *Server) fitViews(d draft) []fitView {
	sum := s.sumOf(d.Folders)
	free := int64(-1)
	if s.driveOf != nil && d.Drive != "" {
		if drive, err := s.driveOf(string(d.Drive)); err == nil {
			free = drive.Free
		}
	}
	return []fitView{
		fitOf(everyHour, "Every hour", 24, sum, free, d.Schedule),
		fitOf(workingHours, "Every hour from 8 to 20", 13, sum, free, d.Schedule),
	}
}

func fitOf(schedule, label string, copies int64, sum folderSize, free int64, chosen string) fitView {
	v := fitView{Value: schedule, Label: label, On: schedule == chosen}
	need := copies * sum.bytes
	v.Text = fmt.Sprintf("%d copies of %s: up to %s", copies, size(sum.bytes), size(need))
	if !sum.done {
		v.Text = fmt.Sprintf("%d copies of %s, still counting", copies, size(sum.bytes))
	}
	switch {
	case free < 0:
	case need > free:
		v.Class = "warn"
		v.Text += fmt.Sprintf("; %s free: that will not fit", size(free))
	default:
		v.Text += fmt.Sprintf("; %s free", size(free))
	}
	return v
}

// skipView is a kind of folder that can be left out.
type skipView struct {
	Pattern, Size string
	On            bool
}

// skipViews are what was found, and the other patterns, one a line.
func (s *Server) skipViews(d draft) (skips []skipView, own string) {
	found := s.sumOf(d.Folders).skips
	var rest []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		pattern := name + "/"
		skips = append(skips, skipView{pattern, size(found[name]), slices.Contains(d.Excludes, pattern)})
	}
	for _, pattern := range d.Excludes {
		if !slices.ContainsFunc(skips, func(v skipView) bool { return v.Pattern == pattern }) {
			rest = append(rest, pattern)
		}
	}
	return skips, strings.Join(rest, "\n")
}
