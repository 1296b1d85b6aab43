package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// disksUnder asks sysfs, see sysfs-block in the kernel's Documentation/ABI.
func disksUnder(h handle) (Medium, []string) {
	device := blockDevice(h)
	if device == "" {
		return UnknownMedium, nil
	}
	return disksOf("/sys", device)
}

// blockDevice is the number of the device that the file system of h lies on, ""
// if there is none. btrfs and overlays show a number of their own in stat: then
// the device is the one that mountinfo names.
func blockDevice(h handle) string {
	st, err := statx(h, unix.STATX_TYPE)
	if err != nil {
		return ""
	}
	if st.Dev_major != 0 {
		return fmt.Sprintf("%d:%d", st.Dev_major, st.Dev_minor)
	}
	m, err := mountInfoOf(h)
	if err != nil || !strings.HasPrefix(m.source, "/") {
		return ""
	}
	var source unix.Stat_t
	if unix.Stat(m.source, &source) != nil || source.Mode&unix.S_IFMT != unix.S_IFBLK {
		return ""
	}
	return fmt.Sprintf("%d:%d", unix.Major(source.Rdev), unix.Minor(source.Rdev))
}

// disksOf looks through a partition at its disk, through dm and md devices at
// their slaves, and through a loop device at what its file lies on: counted on
// both, our own I/O would look like that of others.
func disksOf(sys, device string) (Medium, []string) {
	path, err := filepath.EvalSymlinks(filepath.Join(sys, "dev/block", device))
	if err != nil {
		return UnknownMedium, nil
	}
	if fileText(path, "partition") != "" {
		path = filepath.Dir(path)
	}
	if file := fileText(path, "loop/backing_file"); file != "" {
		return disksOfFile(sys, file)
	}
	slaves, _ := os.ReadDir(filepath.Join(path, "slaves"))
	if len(slaves) == 0 {
		return mediumOf(path), []string{fileText(path, "dev")}
	}
	medium, disks := Solid, []string(nil)
	for _, s := range slaves {
		of, parts := disksOf(sys, fileText(path, "slaves", s.Name(), "dev"))
		medium, disks = medium.join(of), append(disks, parts...)
	}
	return medium, disks
}

func disksOfFile(sys, path string) (Medium, []string) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || unix.Major(st.Dev) == 0 {
		return UnknownMedium, nil
	}
	return disksOf(sys, fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
}

// mediumOf believes "rotational" when it is 0. Virtual disks say 1 whatever lies
// under them: the block layer's default, which virtio and loop never change
// unless they are told.
func mediumOf(path string) Medium {
	switch fileText(path, "queue/rotational") {
	case "0":
		return Solid
	case "1":
		if !isVirtual(path) {
			return Spinning
		}
	}
	return UnknownMedium
}

func isVirtual(path string) bool {
	for _, bus := range []string{"/virtual/", "/virtio", "/vbd-", "/VMBUS:"} {
		if strings.Contains(path, bus) {
			return true
		}
	}
	maker := fileText(path, "device/vendor") + " " + fileText(path, "device/model")
	return slices.ContainsFunc([]string{"QEMU", "VMware", "VBOX", "Msft", "Virtual"}, func(word string) bool {
		return strings.Contains(maker, word)
	})
}

// fileText reads a small file of sysfs, "" if it is not there.
func fileText(path ...string) string {
	text, _ := os.ReadFile(filepath.Join(path...))
	return strings.TrimSpace(string(text))
}
