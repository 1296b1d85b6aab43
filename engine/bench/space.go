package bench

import (
	"github.com/dustin/go-humanize"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/engine/tree"
)

// Drive is what is known of a drive that is measured.
type Drive struct {
	Folder     string `json:"folder"`
	FileSystem string `json:"file_system"`
	Medium     string `json:"medium"` // "solid", "spinning", "network", "" where nobody tells
}

// room is a folder, and the space on its drive.
type room struct {
	*place
	drive       Drive
	device      uint64
	free, total int64
	inodes      int64 // -1: not known
	doubt       string
}

func look(dir string) (room, error) {
	d, err := tree.Open(dir)
	if err != nil {
		return room{}, err
	}
	defer d.Close()
	v, err := d.Volume()
	if err != nil {
		return room{}, err
	}
	info, err := d.Info()
	if err != nil {
		return room{}, err
	}
	r := room{device: info.Dev, free: v.Free, total: v.Total, inodes: v.FreeFiles, doubt: v.Durable}
	r.drive = Drive{Folder: dir, FileSystem: v.FileSystem}
	under, err := d.Drive()
	switch {
	case err != nil: // a drive that does not tell what it is can be measured all the same
	case under.Network:
		r.drive.Medium = "network"
	case under.Medium == tree.Spinning:
		r.drive.Medium = "spinning"
	case under.Medium == tree.Solid:
		r.drive.Medium = "solid"
	}
	return r, nil
}

// usable is what a bench may take: it leaves a tenth of the drive free, at most
// 1 GB, for what others write meanwhile.
func (r room) usable() int64 { return r.free - min(r.total/10, 1_000_000_000) }

// demand is what one tree takes on a drive at most.
type demand struct{ bytes, files int64 }

// demandOf is that of the largest of the trees: there is one at a time. Each
// file takes whole blocks of 4 KiB, its inode, and its lines in a manifest and
// an index.
func demandOf(works []work, size int64) demand {
	var most demand
	for _, w := range works {
		files := w.files(size)
		_, folders := sum(files)
		d := demand{bytes: folders * 4096, files: int64(len(files)) + folders}
		for _, f := range files {
			d.bytes += (f.size+4095)/4096*4096 + 1024
		}
		most.bytes, most.files = max(most.bytes, d.bytes), max(most.files, d.files)
	}
	return most
}

// refuse is an error unless n trees of this demand fit, the largest of a bench of
// this size.
func (r room) refuse(d demand, n, size int64) error {
	amount := unitOf(size)
	switch {
	case n*d.bytes > r.usable():
		return refusef(engine.ErrNoSpace, "too little room on the drive of %s: it has %s free; a bench of %s needs %s at once, and %s must stay free; say a smaller --size, make room, or take another drive",
			r.drive.Folder, amount(r.free), amount(size), amount(n*d.bytes), amount(r.free-r.usable()))
	case r.inodes >= 0 && n*d.files > r.inodes:
		return refusef(engine.ErrNoSpace, "too little room on the drive of %s: it can take %s more files; a bench of %s needs %s; say a smaller --size, or take another drive",
			r.drive.Folder, humanize.Comma(r.inodes), amount(size), humanize.Comma(n*d.files))
	}
	return nil
}

// unitOf is how amounts are written beside a size that a person chose: in KiB and
// MiB if it is whole in those and not in thousands.
func unitOf(size int64) func(int64) string {
	if size%1024 == 0 && size%1000 != 0 {
		return func(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
	}
	return amount
}

func amount(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }
