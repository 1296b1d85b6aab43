package tree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
)

// Syncer makes writes to one file system durable. Open it before the first
// write and keep it: a write error is told once, to a handle opened before. One
// Sync runs at a time.
type Syncer struct {
	kept     *os.File // opened anew: a duplicate would share what it was told
	group    bool
	unproved atomic.Pointer[string]
}

// NewSyncer opens the handle in d. v decides the way: one syncfs and an fsync of
// one file (GroupSync), else fsync of each file in parallel and of each folder.
func NewSyncer(d *Dir, v Volume) (*Syncer, error) {
	h, err := reopen(d.h)
	if err != nil {
		return nil, &fs.PathError{Op: "open for syncs", Path: d.name, Err: err}
	}
	s := &Syncer{kept: os.NewFile(uintptr(h), d.name), group: v.GroupSync}
	if v.Durable != "" {
		s.unproved.Store(&v.Durable)
	}
	return s, nil
}

// Sync makes the files' contents and metadata and the entries of folders
// durable. Folders are synced in their order, after all files. An error means:
// nothing since the last good Sync can be trusted, and no file of it may be
// synced again in the hope that it helps. EINVAL and ENOTSUP of a folder's fsync
// are no error (see Unproved). A sync that runs cannot be interrupted; ctx is
// looked at before each.
func (s *Syncer) Sync(ctx context.Context, files []*os.File, folders []*Dir) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var err error
	if s.group {
		err = s.syncGroup(files)
	} else {
		err = s.syncEach(ctx, files, folders)
	}
	if err != nil {
		return err
	}
	// A file system that has given up may answer later syncs with success.
	return pathError("sync", s.kept.Name(), writable(handle(s.kept.Fd())))
}

// syncGroup writes everything by one syncfs. The file systems for which it is
// used may have had nothing left to commit, so the fsync of one file makes sure
// that the device's own cache is flushed behind the last of it.
func (s *Syncer) syncGroup(files []*os.File) error {
	if err := syncFileSystem(handle(s.kept.Fd())); err != nil {
		return &fs.PathError{Op: "syncfs", Path: s.kept.Name(), Err: err}
	}
	last := s.kept
	if len(files) > 0 {
		last = files[len(files)-1]
	}
	return last.Sync()
}

func (s *Syncer) syncEach(ctx context.Context, files []*os.File, folders []*Dir) error {
	if err := syncFiles(ctx, files); err != nil {
		return err
	}
	for _, d := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.syncFolder(d); err != nil {
			return err
		}
	}
	return s.tolerate(s.kept.Sync()) // for a barrier that names nothing
}

// syncFiles works in parallel: file systems put the waits of one journal commit
// together. Eight did 14,800 syncs a second where one did 3,300; 32 were slower.
func syncFiles(ctx context.Context, files []*os.File) error {
	const workers = 8
	var (
		next atomic.Int64
		wg   sync.WaitGroup
		errs = make([]error, min(workers, len(files)))
	)
	for w := range errs {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)) && errs[w] == nil; i = next.Add(1) - 1 {
				if errs[w] = ctx.Err(); errs[w] == nil {
					errs[w] = syncFile(files[i])
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s *Syncer) syncFolder(d *Dir) error {
	return s.tolerate(pathError("fsync", d.name, syncHandle(d.h)))
}

// tolerate lets pass that folders cannot be synced at all (CIFS, some FUSE), and
// remembers it.
func (s *Syncer) tolerate(err error) error {
	if err == nil || !cannotSync(err) {
		return err
	}
	if s.unproved.Load() == nil {
		reason := "this file system cannot sync folders"
		s.unproved.Store(&reason)
	}
	return nil
}

// Unproved is the reason why durability cannot be proved, found while syncing or
// told by the Volume; "" if there is none. May be asked at any time.
func (s *Syncer) Unproved() string {
	if reason := s.unproved.Load(); reason != nil {
		return *reason
	}
	return ""
}

// Close frees the handle. What was written since the last Sync is not durable.
func (s *Syncer) Close() error { return s.kept.Close() }
