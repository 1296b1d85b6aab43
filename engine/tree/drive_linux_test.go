package tree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// sysfs makes a tree like /sys. A file is its path and content, a link its path
// and "-> " with what it points to.
func sysfs(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if len(content) > 3 && content[:3] == "-> " {
			err = os.Symlink(filepath.Join(root, content[3:]), path)
		} else {
			err = os.WriteFile(path, []byte(content+"\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDrivesAreFoundUnderWhatLiesOnThem(t *testing.T) {
	const (
		sda = "devices/pci0/ata1/block/sda"
		nvm = "devices/pci0/nvme/nvme0/nvme0n1"
		vda = "devices/pci0/virtio1/block/vda"
		dm  = "devices/virtual/block/dm-0"
		md  = "devices/virtual/block/md0"
	)
	root := sysfs(t, map[string]string{
		sda + "/dev": "8:0", sda + "/queue/rotational": "1", sda + "/device/vendor": "ATA", "dev/block/8:0": "-> " + sda,
		sda + "/sda1/dev": "8:1", sda + "/sda1/partition": "1", "dev/block/8:1": "-> " + sda + "/sda1",
		nvm + "/dev": "259:0", nvm + "/queue/rotational": "0", "dev/block/259:0": "-> " + nvm,
		vda + "/dev": "254:0", vda + "/queue/rotational": "1", "dev/block/254:0": "-> " + vda,
		dm + "/dev": "253:0", dm + "/queue/rotational": "0", dm + "/slaves/sda1": "-> " + sda + "/sda1", "dev/block/253:0": "-> " + dm,
		md + "/dev": "9:0", md + "/queue/rotational": "1", "dev/block/9:0": "-> " + md,
		md + "/slaves/dm-0": "-> " + dm, md + "/slaves/nvme0n1": "-> " + nvm,
	})
	tests := []struct {
		name   string
		device string
		medium Medium
		disks  []string
	}{
		{"a disk that spins", "8:0", Spinning, []string{"8:0"}},
		{"its partition", "8:1", Spinning, []string{"8:0"}},
		{"flash", "259:0", Solid, []string{"259:0"}},
		{"a virtual disk, which says 1 of anything", "254:0", UnknownMedium, []string{"254:0"}},
		{"encryption on a partition", "253:0", Spinning, []string{"8:0"}},
		{"RAID of unlike parts", "9:0", Spinning, []string{"259:0", "8:0"}},
		{"a number that sysfs does not know", "0:47", UnknownMedium, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			medium, disks := disksOf(root, test.device)
			slices.Sort(disks)
			if medium != test.medium || !slices.Equal(disks, test.disks) {
				t.Errorf("got %v on %v, want %v on %v", medium, disks, test.medium, test.disks)
			}
		})
	}
}

func TestFoldersOfOneFileSystemShareTheirDrive(t *testing.T) {
	a, b := openDrive(t, t.TempDir()), openDrive(t, t.TempDir())
	if len(a.Disks) > 0 && !a.Shares(b) {
		t.Errorf("got two drives %v and %v, want one", a, b)
	}
	if a.Shares(Drive{}) || (Drive{}).Shares(Drive{}) {
		t.Error("an unknown drive is said to be shared")
	}
}

func openDrive(t *testing.T, path string) Drive {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	drive, err := d.Drive()
	if err != nil {
		t.Fatal(err)
	}
	return drive
}
