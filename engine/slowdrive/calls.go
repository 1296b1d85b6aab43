//go:build linux && root

package slowdrive

import (
	"sync/atomic"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// mounts numbers the mounts of this process.
var mounts atomic.Uint64

// drive lets each request wait before the folder below answers it. Only Forget
// and Release, on which nobody waits, cost nothing.
type drive struct {
	fuse.RawFileSystem
	model Model
	id    uint64
}

func (d *drive) wait(k kind, node uint64) { d.model.wait(request{kind: k, mount: d.id, node: node}) }

func (d *drive) data(node, off uint64, size int) {
	d.model.wait(request{data, d.id, node, int64(off), int64(size)})
}

type stop = <-chan struct{}

func (d *drive) Lookup(c stop, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	d.wait(look, h.NodeId)
	return d.RawFileSystem.Lookup(c, h, name, out)
}

func (d *drive) GetAttr(c stop, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	d.wait(ask, in.NodeId)
	return d.RawFileSystem.GetAttr(c, in, out)
}

func (d *drive) Statx(c stop, in *fuse.StatxIn, out *fuse.StatxOut) fuse.Status {
	d.wait(ask, in.NodeId)
	return d.RawFileSystem.Statx(c, in, out)
}

func (d *drive) SetAttr(c stop, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	d.wait(change, in.NodeId)
	return d.RawFileSystem.SetAttr(c, in, out)
}

func (d *drive) Mkdir(c stop, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	d.wait(change, in.NodeId)
	return d.RawFileSystem.Mkdir(c, in, name, out)
}

func (d *drive) Unlink(c stop, h *fuse.InHeader, name string) fuse.Status {
	d.wait(change, h.NodeId)
	return d.RawFileSystem.Unlink(c, h, name)
}

func (d *drive) Rmdir(c stop, h *fuse.InHeader, name string) fuse.Status {
	d.wait(change, h.NodeId)
	return d.RawFileSystem.Rmdir(c, h, name)
}

func (d *drive) Rename(c stop, in *fuse.RenameIn, from, to string) fuse.Status {
	d.wait(change, in.NodeId)
	return d.RawFileSystem.Rename(c, in, from, to)
}

func (d *drive) Link(c stop, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	d.wait(change, in.NodeId)
	return d.RawFileSystem.Link(c, in, name, out)
}

func (d *drive) Symlink(c stop, h *fuse.InHeader, to, name string, out *fuse.EntryOut) fuse.Status {
	d.wait(change, h.NodeId)
	return d.RawFileSystem.Symlink(c, h, to, name, out)
}

func (d *drive) Readlink(c stop, h *fuse.InHeader) ([]byte, fuse.Status) {
	d.wait(ask, h.NodeId)
	return d.RawFileSystem.Readlink(c, h)
}

func (d *drive) GetXAttr(c stop, h *fuse.InHeader, name string, dest []byte) (uint32, fuse.Status) {
	d.wait(ask, h.NodeId)
	return d.RawFileSystem.GetXAttr(c, h, name, dest)
}

func (d *drive) ListXAttr(c stop, h *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	d.wait(ask, h.NodeId)
	return d.RawFileSystem.ListXAttr(c, h, dest)
}

func (d *drive) SetXAttr(c stop, in *fuse.SetXAttrIn, name string, value []byte) fuse.Status {
	d.wait(change, in.NodeId)
	return d.RawFileSystem.SetXAttr(c, in, name, value)
}

func (d *drive) RemoveXAttr(c stop, h *fuse.InHeader, name string) fuse.Status {
	d.wait(change, h.NodeId)
	return d.RawFileSystem.RemoveXAttr(c, h, name)
}

func (d *drive) Create(c stop, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	d.wait(change, in.NodeId)
	in.Flags &^= unix.O_DIRECT // the buffers here are not aligned for it
	return d.RawFileSystem.Create(c, in, name, out)
}

func (d *drive) Open(c stop, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	d.wait(ask, in.NodeId)
	in.Flags &^= unix.O_DIRECT
	return d.RawFileSystem.Open(c, in, out)
}

func (d *drive) Read(c stop, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	d.data(in.NodeId, in.Offset, int(in.Size))
	return d.RawFileSystem.Read(c, in, buf)
}

func (d *drive) Write(c stop, in *fuse.WriteIn, p []byte) (uint32, fuse.Status) {
	d.data(in.NodeId, in.Offset, len(p))
	return d.RawFileSystem.Write(c, in, p)
}

func (d *drive) Writev(c stop, in *fuse.WriteIn, p [][]byte) (uint32, fuse.Status) {
	d.data(in.NodeId, in.Offset, int(in.Size))
	return d.RawFileSystem.Writev(c, in, p)
}

// CopyFileRange makes the system read and write instead.
func (d *drive) CopyFileRange(stop, *fuse.CopyFileRangeIn) (uint32, fuse.Status) {
	return 0, fuse.ENOSYS
}

func (d *drive) Flush(c stop, in *fuse.FlushIn) fuse.Status {
	d.wait(ask, in.NodeId)
	return d.RawFileSystem.Flush(c, in)
}

// Fsync and FsyncDir take the time that they take on a real drive, and do no more.
func (d *drive) Fsync(_ stop, in *fuse.FsyncIn) fuse.Status {
	d.wait(flush, in.NodeId)
	return fuse.OK
}

func (d *drive) FsyncDir(_ stop, in *fuse.FsyncIn) fuse.Status {
	d.wait(flush, in.NodeId)
	return fuse.OK
}

func (d *drive) Fallocate(c stop, in *fuse.FallocateIn) fuse.Status {
	d.wait(change, in.NodeId)
	return d.RawFileSystem.Fallocate(c, in)
}

func (d *drive) OpenDir(c stop, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	d.wait(ask, in.NodeId)
	return d.RawFileSystem.OpenDir(c, in, out)
}

func (d *drive) ReadDir(c stop, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	d.wait(look, in.NodeId)
	return d.RawFileSystem.ReadDir(c, in, out)
}

func (d *drive) ReadDirPlus(c stop, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	d.wait(look, in.NodeId)
	return d.RawFileSystem.ReadDirPlus(c, in, out)
}

func (d *drive) StatFs(c stop, h *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	d.wait(ask, h.NodeId)
	return d.RawFileSystem.StatFs(c, h, out)
}
