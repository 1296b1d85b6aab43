package engine

import "io/fs"

func inodeOf(fs.FileInfo) (id string, names uint64) { return "", 1 }
