package tree

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mountInfo is one line of /proc/self/mountinfo, see proc_pid_mountinfo(5).
type mountInfo struct {
	fileSystem string // "ext4", "fuse.sshfs", "fuseblk" ...
	source     string
	options    []string // of the file system
}

// mountInfoOf finds the line for the mount that h lies on. Where /proc is not
// there, the magic number gives the name at least.
func mountInfoOf(h handle) (mountInfo, error) {
	id, err := mountID(h)
	if err != nil {
		return mountInfo{}, err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if errors.Is(err, fs.ErrNotExist) {
		return byMagic(h)
	}
	if err != nil {
		return mountInfo{}, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if m, ok := parseMountInfo(lines.Text(), id); ok {
			return m, nil
		}
	}
	return byMagic(h)
}

// mountID is the id that mountinfo shows: not the unique one of Mount.
func mountID(h handle) (string, error) {
	st, err := statx(h, unix.STATX_MNT_ID)
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(st.Mnt_id, 10), nil
}

// parseMountInfo reads
//
//	36 35 98:0 /sub /mnt rw,noatime master:1 - ext4 /dev/sda1 rw,nobarrier
//
// in which the fields before the dash vary in number.
func parseMountInfo(line, id string) (mountInfo, bool) {
	if !strings.HasPrefix(line, id+" ") {
		return mountInfo{}, false
	}
	_, after, ok := strings.Cut(line, " - ")
	fields := strings.Fields(after)
	if !ok || len(fields) < 3 {
		return mountInfo{}, false
	}
	return mountInfo{fields[0], unescape(fields[1]), strings.Split(fields[2], ",")}, true
}

// unescape undoes the octal escapes that mountinfo has for blanks.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// whyNotDurable gives the reason why a sync need not reach the device.
func (m mountInfo) whyNotDurable() string {
	if m.fileSystem == "tmpfs" || m.fileSystem == "ramfs" {
		return m.fileSystem + " lives in memory"
	}
	for _, option := range []string{"nobarrier", "barrier=0", "volatile", "fsync=volatile"} {
		if slices.Contains(m.options, option) {
			return "mounted with " + option
		}
	}
	return ""
}

func byMagic(h handle) (mountInfo, error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(int(h), &st) }); err != nil {
		return mountInfo{}, err
	}
	return mountInfo{fileSystem: magicNames[uint32(st.Type)]}, nil
}

// magicNames are from linux/magic.h; ext2 and ext3 share the number of ext4.
var magicNames = map[uint32]string{
	unix.EXT4_SUPER_MAGIC:      "ext4",
	unix.XFS_SUPER_MAGIC:       "xfs",
	unix.BTRFS_SUPER_MAGIC:     "btrfs",
	unix.F2FS_SUPER_MAGIC:      "f2fs",
	unix.TMPFS_MAGIC:           "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlay",
	unix.FUSE_SUPER_MAGIC:      "fuse",
	unix.NFS_SUPER_MAGIC:       "nfs",
	unix.CIFS_SUPER_MAGIC:      "cifs",
	unix.SMB2_SUPER_MAGIC:      "cifs",
	unix.V9FS_MAGIC:            "9p",
	unix.EXFAT_SUPER_MAGIC:     "exfat",
	unix.MSDOS_SUPER_MAGIC:     "vfat",
}
