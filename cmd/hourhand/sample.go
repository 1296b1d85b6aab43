package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// sampleBytes is how large the sample tree is, a little rounded up.
const sampleBytes = 52_000_000

// sampleTime is when the files of the sample say that they were written, an
// hour apart.
var sampleTime = time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)

// writeSample makes a folder like a person's: some hundred files of several
// kinds and sizes, the same bytes every time.
func writeSample(root string) error {
	s := sample{root: root, random: rand.NewChaCha8([32]byte([]byte("the sample of hourhand, always!!")))}
	for i := range 300 {
		s.file(fmt.Sprintf("Documents/%d/letter %03d.txt", 2020+i%5, i), 2_000+i*100)
	}
	for i := range 24 {
		s.file(fmt.Sprintf("Pictures/2024-03 Málaga/IMG_%04d.jpg", 1200+i), 1_000_000)
	}
	s.file("Videos/first steps.mp4", 20_000_000)
	for i := range 40 {
		s.file(fmt.Sprintf("Projects/house/plans/room-%02d.dat", i), 4096)
	}
	s.file("Projects/house/empty.txt", 0)
	s.file("Projects/日本/été & co.txt", 123)
	s.folder("Projects/nothing yet")
	s.link("Documents/newest letter", "2024/letter 299.txt")
	return s.err
}

// sample writes one thing after the other until the first error.
type sample struct {
	root   string
	random *rand.ChaCha8
	n      int
	err    error
}

func (s *sample) do(step func() error) {
	if s.err == nil {
		s.err = step()
	}
}

func (s *sample) folder(name string) {
	s.do(func() error { return os.MkdirAll(filepath.Join(s.root, filepath.FromSlash(name)), 0o755) })
}

func (s *sample) file(name string, size int) {
	s.folder(filepath.ToSlash(filepath.Dir(name)))
	s.do(func() error {
		path := filepath.Join(s.root, filepath.FromSlash(name))
		data := make([]byte, size)
		s.random.Read(data) // never fails
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
		s.n++
		written := sampleTime.Add(time.Duration(s.n) * time.Hour)
		return os.Chtimes(path, written, written)
	})
}

// link makes a link. Windows lets only some users make one: the sample is as
// good without.
func (s *sample) link(name, to string) {
	s.do(func() error {
		err := os.Symlink(filepath.FromSlash(to), filepath.Join(s.root, filepath.FromSlash(name)))
		if runtime.GOOS == "windows" {
			return nil
		}
		return err
	})
}
