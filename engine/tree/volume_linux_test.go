package tree

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestMountInfoTellsTheFileSystem(t *testing.T) {
	const (
		ext4  = `36 35 98:0 /sub /mnt rw,noatime master:1 - ext4 /dev/sda1 rw,errors=continue`
		sshfs = `40 35 0:44 / /mnt rw shared:7 master:1 propagate_from:2 - fuse.sshfs me@host:/my\040files rw,user_id=0`
		ntfs  = `41 35 8:17 / /mnt rw - fuseblk /dev/sdb1 rw,user_id=0,allow_other`
		nfs   = `42 35 0:45 / /mnt rw - nfs4 nas:/volume1 rw,vers=4.2`
		share = `43 35 0:46 / /mnt rw - cifs //nas/photos rw,vers=3.1.1`
		mem   = `44 35 0:47 / /mnt rw - tmpfs tmpfs rw`
		loose = `45 35 0:48 / /mnt rw - overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c,volatile`
		old   = `46 35 98:1 / /mnt rw - ext4 /dev/sda2 rw,barrier=0`
	)
	for _, c := range []struct {
		line, id   string
		fileSystem string
		network    bool
		durable    string
		volume     string // of network mounts
	}{
		{ext4, "36", "ext4", false, "", ""},
		{ext4, "35", "", false, "", ""},
		{ext4, "3", "", false, "", ""},
		{sshfs, "40", "fuse.sshfs", true, "", "fuse.sshfs me@host:/my files"},
		{ntfs, "41", "fuseblk", false, "", ""},
		{nfs, "42", "nfs4", true, "", "nfs4 nas:/volume1"},
		{share, "43", "cifs", true, "", "cifs //nas/photos"},
		{mem, "44", "tmpfs", false, "tmpfs lives in memory", ""},
		{loose, "45", "overlay", false, "mounted with volatile", ""},
		{old, "46", "ext4", false, "mounted with barrier=0", ""},
		{"36 35 98:0 / /mnt rw", "36", "", false, "", ""},
	} {
		m, ok := parseMountInfo(c.line, c.id)
		if ok != (c.fileSystem != "") || m.fileSystem != c.fileSystem {
			t.Errorf("%s in %q: got %q, %v", c.id, c.line, m.fileSystem, ok)
		}
		if got := isNetwork(m.fileSystem); got != c.network {
			t.Errorf("%q: got network %v", c.line, got)
		}
		if got := m.whyNotDurable(); got != c.durable {
			t.Errorf("%q: got %q, want %q", c.line, got, c.durable)
		}
		if c.network {
			if got := volumeID(-1, m, unix.Statfs_t{}); got != c.volume {
				t.Errorf("%q: got id %q, want %q", c.line, got, c.volume)
			}
		}
	}
}
