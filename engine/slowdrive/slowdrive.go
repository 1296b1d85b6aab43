//go:build linux && root

// Package slowdrive is a drive for tests that answers as late as a spinning disk
// or a network share would: a FUSE file system that passes everything through to
// a folder and lets a model say how long each request takes. Only tests use it.
package slowdrive

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Mount shows folder under a new mount point until the test ends. Two mounts with
// one Disk lie on the same disk. A Network is mounted as fuse.sshfs, which the
// engine knows as a network drive. What is synced is not made durable.
func Mount(t testing.TB, folder string, m Model) string {
	t.Helper()
	dir := t.TempDir()
	root, err := fs.NewLoopbackRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	kept := m.keeps()
	nodes := fs.NewNodeFS(root, &fs.Options{EntryTimeout: &kept, AttrTimeout: &kept})
	unmountAtDeath(t, dir)
	server, err := fuse.NewServer(&drive{RawFileSystem: nodes, model: m, id: mounts.Add(1)}, dir, &fuse.MountOptions{
		FsName: folder, Name: m.name(), DirectMountStrict: true, AllowOther: true,
		MaxWrite: 1 << 20, MaxReadAhead: 1 << 20, MaxBackground: 64,
		Options:              []string{"default_permissions"},
		DisabledCapabilities: fuse.CAP_PASSTHROUGH, // else reads and writes would go past the model
	})
	if err != nil {
		t.Fatalf("mount a slow drive: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		t.Fatalf("mount a slow drive: %v", err)
	}
	return dir
}

// unmountAtDeath starts a process that unmounts dir when this one is gone, however
// it ends: no cleanup runs after a panic of another goroutine.
func unmountAtDeath(t testing.TB, dir string) {
	t.Helper()
	guard := exec.Command("sh", "-c", `read -r _; umount --lazy "$0" 2>/dev/null; :`, dir)
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is not for it
	alive, err := guard.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		alive.(*os.File).Close()
		guard.Wait()
	})
}
