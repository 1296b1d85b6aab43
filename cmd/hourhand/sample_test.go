package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeebo/xxh3"
)

func TestSampleIsTheSameEveryTime(t *testing.T) {
	first, second := sampleTree(t), sampleTree(t)
	var bytes int64
	files := 0
	for name, f := range first {
		if second[name] != f {
			t.Errorf("%s: got %+v, then %+v", name, f, second[name])
		}
		bytes += f.size
		if f.size > 0 {
			files++
		}
	}
	if files < 300 || bytes < sampleBytes*9/10 || bytes > sampleBytes {
		t.Errorf("got %d files of %d bytes, want some hundred of at most %d", files, bytes, sampleBytes)
	}
}

type sampleFile struct {
	mode    fs.FileMode
	size    int64
	written int64
	hash    uint64
}

func sampleTree(t *testing.T) map[string]sampleFile {
	t.Helper()
	root := t.TempDir()
	if err := writeSample(root); err != nil {
		t.Fatal(err)
	}
	tree := map[string]sampleFile{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil || !e.Type().IsRegular() {
			tree[path[len(root):]] = sampleFile{mode: e.Type()}
			return err
		}
		data, err := os.ReadFile(path)
		tree[path[len(root):]] = sampleFile{info.Mode(), info.Size(), info.ModTime().UnixNano(), xxh3.Hash(data)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
