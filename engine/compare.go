package engine

import (
	"fmt"
	"time"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// verdict is what one entry of the source means for one destination.
type verdict struct {
	op    op    // 0: nothing to do
	owner owner // of what is there now
	swap  bool  // folder against something else: waits until what is there may go
	adopt bool  // equal as far as stat tells, and idx does not know it yet: record it
}

// comparer knows how a source and a target are compared.
type comparer struct {
	checksum     bool
	sourceStable bool // file ids and ctimes of the source mean something
	targetStable bool
	targetGrain  int64
}

// file judges a regular file or a link. src is never Folder or None.
func (c *comparer) file(src, now tree.Info, old *index.Entry) verdict {
	switch {
	case now.Kind == tree.None:
		return verdict{op: opAdd}
	case now.Kind == tree.Folder:
		return verdict{op: opAdd, swap: true}
	case now.Kind != src.Kind:
		return verdict{op: opReplace, owner: c.ownerOf(now, old)}
	case src.Kind == tree.Link:
		return c.link(src, now, old)
	case now.Nlink > 1 && src.Nlink == 1:
		// the copy shares its inode with another name of the hour, the source no
		// longer does: a new file breaks the link
		return verdict{op: opReplace, owner: c.ownerOf(now, old)}
	}
	return c.regular(src, now, old)
}

func (c *comparer) regular(src, now tree.Info, old *index.Entry) verdict {
	switch {
	case old == nil || old.Kind != tree.File:
		if src.Size == now.Size && c.near(src.MTime, now.MTime) {
			return verdict{op: opCheck, owner: unclear}
		}
		return verdict{op: opReplace, owner: strange}
	case old.Flags&index.Partial != 0:
		return c.partly(src, now, old)
	case !c.targetSame(now, old):
		return c.touchedAt(now, old)
	}
	return c.known(src, old)
}

// known judges a file whose copy is as idx recorded it.
func (c *comparer) known(src tree.Info, old *index.Entry) verdict {
	if src.Size != old.Size || src.MTime != old.Source.MTime {
		return verdict{op: opReplace, owner: ours}
	}
	if c.checksum || old.Flags&(index.Racy|index.Unstable|index.NextToo) != 0 || !c.sourceSame(src, old) {
		return verdict{op: opCheck, owner: ours}
	}
	return verdict{}
}

// touchedAt judges a file whose copy is not as idx recorded it: edited, put in
// place by an interrupted run, or only moved in time by its file system.
func (c *comparer) touchedAt(now tree.Info, old *index.Entry) verdict {
	switch {
	case old.Flags&index.NextToo != 0,
		now.Size == old.Size && now.MTime == old.Target.MTime,
		now.Size == old.Size && zoneShift(now.MTime-old.Target.MTime):
		return verdict{op: opCheck, owner: unclear}
	}
	return verdict{op: opReplace, owner: strange}
}

// partly judges a file of which only the hash is known: an interrupted run put
// it there, or the idx was lost.
func (c *comparer) partly(src, now tree.Info, old *index.Entry) verdict {
	if src.Size != now.Size || !c.near(src.MTime, now.MTime) {
		return verdict{op: opReplace, owner: unclear}
	}
	if c.checksum || old.Flags&index.Unstable != 0 {
		return verdict{op: opCheck, owner: unclear}
	}
	return verdict{adopt: true, owner: ours}
}

// link judges a symbolic link; the caller compares what it points to when adopt
// is set.
func (c *comparer) link(src, now tree.Info, old *index.Entry) verdict {
	if old != nil && old.Kind == tree.Link && c.targetSame(now, old) {
		if c.sourceSame(src, old) {
			return verdict{}
		}
		return verdict{adopt: true, owner: ours}
	}
	return verdict{adopt: true, owner: c.ownerOf(now, old)}
}

// ownerOf tells whether what lies at the target is as we left it.
func (c *comparer) ownerOf(now tree.Info, old *index.Entry) owner {
	switch {
	case old == nil || old.Kind != now.Kind:
		return strange
	case now.Kind == tree.Folder, c.targetSame(now, old):
		return ours
	case old.Flags&(index.Partial|index.NextToo) != 0:
		return unclear
	case now.Kind == tree.File && now.Size == old.Size && (now.MTime == old.Target.MTime || zoneShift(now.MTime-old.Target.MTime)):
		return unclear
	}
	return strange
}

func (c *comparer) sourceSame(src tree.Info, old *index.Entry) bool {
	return src.Size == old.Size && sameStamp(stamp(src), old.Source, c.sourceStable)
}

func (c *comparer) targetSame(now tree.Info, old *index.Entry) bool {
	return old.Flags&index.Partial == 0 && now.Kind == old.Kind && now.Size == old.Size && sameStamp(stamp(now), old.Target, c.targetStable)
}

// near compares a source's mtime with that of its copy, within the grain of the
// target's file system.
func (c *comparer) near(src, now int64) bool {
	d := src - now
	return d == 0 || d < c.targetGrain && d > -c.targetGrain
}

func stamp(i tree.Info) index.Stamp { return index.Stamp{MTime: i.MTime, CTime: i.CTime, ID: i.Ino} }

func sameStamp(a, b index.Stamp, stable bool) bool {
	return a.MTime == b.MTime && (!stable || a.CTime == b.CTime && a.ID == b.ID)
}

// zoneShift tells a difference by which FAT and its like move all times when the
// clock or the zone changes: quarters of an hour, up to 14 hours (the widest
// zone is UTC+14).
func zoneShift(d int64) bool {
	const quarter = int64(15 * time.Minute)
	return d != 0 && d%quarter == 0 && d <= 56*quarter && d >= -56*quarter
}

// racyWindow is how near to its reading a modification may lie so that a later
// one could leave the same mtime: 2 s is FAT's grain, 3 s leaves room, as git
// treats its index.
const racyWindow = 3 * time.Second

// racy tells that a stat proves nothing: modified just before it was read, or in
// the future.
func racy(mtime int64, read time.Time) bool {
	return mtime > read.Add(-racyWindow).UnixNano()
}

// reason explains a verdict to a person.
func (c *comparer) reason(v verdict, src, now tree.Info, old *index.Entry) string {
	switch {
	case now.Kind == tree.None:
		return "new"
	case v.swap || now.Kind != src.Kind:
		return fmt.Sprintf("was a %s, is a %s", kindName(now.Kind), kindName(src.Kind))
	case src.Size != now.Size:
		return fmt.Sprintf("size %d -> %d", now.Size, src.Size)
	case v.op == opReplace && !c.near(src.MTime, now.MTime):
		return "modified " + moment(src.MTime)
	case v.op == opReplace && now.Nlink > 1:
		return "no longer a hard link"
	case v.op == opReplace && v.owner == strange:
		return "edited at the target"
	case v.op == opCheck && c.checksum:
		return "contents are compared"
	case v.op == opCheck && old != nil && old.Flags&index.Racy != 0:
		return "modified while it was read last time: contents are compared"
	case v.op == opCheck:
		return "changed, but not in size and time: contents are compared"
	}
	return "differs"
}

func kindName(k tree.Kind) string {
	return [...]string{"nothing", "file", "folder", "link", "special file"}[k]
}

// moment prints an mtime; absurd ones do not break it.
func moment(ns int64) string { return time.Unix(0, ns).Format("2006-01-02 15:04:05") }
