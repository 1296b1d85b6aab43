package tree

import (
	"slices"
	"strings"
)

// Medium is what a drive stores on, as far as its system knows.
type Medium int

const (
	UnknownMedium Medium = iota // nobody tells, or who tells is a virtual disk that cannot know
	Spinning                    // each jump to another place costs milliseconds
	Solid
)

// Drive is what lies under the file system of a folder. The zero value is a
// drive about which nothing is known.
type Drive struct {
	Medium  Medium
	Network bool // each call is a message to another machine
	// Disks are the whole disks under the file system, partitions, encryption and
	// RAID looked through, sorted; empty where the system names none, or where
	// another process does the work on them (FUSE), so that nobody can tell whose it
	// is. Linux:
	// device numbers "8:0", as in /sys/dev/block. Windows: `\\.\PhysicalDrive0`.
	// macOS: empty.
	Disks []string
}

// Drive looks at the drive under d. Whatever the system does not tell stays
// unknown; that is no error.
func (d *Dir) Drive() (Drive, error) {
	v, err := d.Volume()
	if err != nil {
		return Drive{}, err
	}
	drive := Drive{Network: v.Network}
	if !v.Network {
		drive.Medium, drive.Disks = disksUnder(d.h)
	}
	if strings.HasPrefix(v.FileSystem, "fuse") {
		drive.Disks = nil
	}
	slices.Sort(drive.Disks)
	drive.Disks = slices.Compact(drive.Disks)
	return drive, nil
}

// Shares tells whether some disk is part of both drives, so that work on one
// slows the other.
func (d Drive) Shares(other Drive) bool {
	return slices.ContainsFunc(d.Disks, func(disk string) bool { return slices.Contains(other.Disks, disk) })
}

// join is the medium of a drive made of parts: as slow as the slowest.
func (m Medium) join(part Medium) Medium {
	switch {
	case m == Spinning || part == Spinning:
		return Spinning
	case m == UnknownMedium || part == UnknownMedium:
		return UnknownMedium
	}
	return Solid
}
