package store

import (
	"fmt"
	"iter"
	"testing"
	"time"
)

// BenchmarkHistory writes runs with a hundred problems each.
func BenchmarkHistory(b *testing.B) {
	s := openAt(b, b.TempDir(), noon)
	j := addJob(b, s, "a")
	problems := make([]Problem, 100)
	for i := range problems {
		problems[i].Path = fmt.Sprintf("folder/file%03d", i)
	}
	hour := &Hour{Content: "sealed", Files: Count{Files: 5000, Bytes: 5e9}}
	const runs = 24
	b.ReportAllocs()
	at := noon
	for b.Loop() {
		for i := range runs {
			at = at.Add(time.Hour)
			record(b, s, Run{Job: j.ID, Hour: i, Started: at, Outcome: Partial}, problems, hour)
		}
	}
	b.ReportMetric(runs*float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkIndex takes the files of an hour into the search; each round a tenth
// of them is new.
func BenchmarkIndex(b *testing.B) {
	const files = 10_000
	s := openAt(b, b.TempDir(), noon)
	j := addJob(b, s, "a")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		run := fmt.Sprintf("run%d", n)
		if err := s.Index(j.ID, n%24, run, hourOf(files, n)); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(files*float64(b.N)/b.Elapsed().Seconds(), "files/s")
}

// hourOf lists an hour's files, every tenth as it is only in this round.
func hourOf(files, round int) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for i := range files {
			f := File{Path: fmt.Sprintf("folder%03d/file%02d", i/100, i%100), Size: 1000, MTime: int64(i), Hash: [16]byte{byte(i), byte(i >> 8)}}
			if i%10 == 0 {
				f.MTime, f.Hash[15] = int64(round), byte(round)
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}
