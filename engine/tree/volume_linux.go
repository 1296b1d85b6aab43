package tree

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func volumeOf(h handle) (Volume, error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(int(h), &st) }); err != nil {
		return Volume{}, err
	}
	m, err := mountInfoOf(h)
	if err != nil {
		return Volume{}, err
	}
	block := int64(st.Frsize)
	v := Volume{
		FileSystem: m.fileSystem,
		Network:    isNetwork(m.fileSystem),
		StableIDs:  slices.Contains(stableIDs, m.fileSystem),
		GroupSync:  slices.Contains(onDevice, m.fileSystem) && syncfsTells(),
		PastCache:  slices.Contains(onDevice, m.fileSystem),
		Durable:    m.whyNotDurable(),
		ReadOnly:   st.Flags&unix.ST_RDONLY != 0,
		Free:       int64(st.Bavail) * block,
		Total:      int64(st.Blocks) * block,
		FreeFiles:  -1,
		NameMax:    int(st.Namelen),
	}
	if st.Files > 0 {
		v.FreeFiles = int64(st.Ffree)
	}
	v.ID = volumeID(h, m, st)
	return v, nil
}

var (
	// onDevice are those for which it was measured, by power cuts and by changing
	// the device underneath, that syncfs flushes and that reads can reach it.
	onDevice  = []string{"ext4", "xfs", "btrfs"}
	stableIDs = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "bcachefs"}
	network   = []string{"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "coda", "ncpfs", "davfs", "beegfs", "orangefs", "gpfs"}
	// byFUSE are the parts after "fuse." of drivers that reach over a network.
	byFUSE = []string{"sshfs", "rclone", "s3fs", "goofys", "gcsfuse", "davfs", "davfs2", "curlftpfs", "glusterfs", "ceph", "ceph-fuse", "gvfsd-fuse", "smbnetfs", "moosefs", "juicefs"}
)

func isNetwork(fileSystem string) bool {
	driver, fuse := strings.CutPrefix(fileSystem, "fuse.")
	return fuse && slices.Contains(byFUSE, driver) || slices.Contains(network, fileSystem)
}

// syncfsTells: before Linux 5.17 syncfs left out the errors of the file system's
// own sync (commit 5679897eb104).
func syncfsTells() bool {
	var name unix.Utsname
	var major, minor int
	if unix.Uname(&name) != nil {
		return false
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 5 || major == 5 && minor >= 17
}

// volumeID is the UUID in the file system itself, where the kernel tells it
// (Linux 6.9) or udev has read it. Network mounts are known by what they mount.
func volumeID(h handle, m mountInfo, st unix.Statfs_t) string {
	if m.fileSystem == "btrfs" {
		return btrfsUUID(h)
	}
	if id := superblockUUID(h); id != "" {
		return id
	}
	if isNetwork(m.fileSystem) {
		return m.fileSystem + " " + m.source
	}
	if id := udevUUID(m.source); id != "" {
		return id
	}
	// These make the fsid of their UUID; xfs and FAT make it of the device number.
	if slices.Contains([]string{"ext2", "ext3", "ext4", "zfs"}, m.fileSystem) && st.Fsid.Val != [2]int32{} {
		return fmt.Sprintf("%08x%08x", uint32(st.Fsid.Val[0]), uint32(st.Fsid.Val[1]))
	}
	return ""
}

// superblockUUID asks FS_IOC_GETFSUUID of linux/fs.h, _IOR(0x15, 0, struct
// fsuuid2).
func superblockUUID(h handle) string {
	var id struct {
		length uint8
		bytes  [16]byte
	}
	const getFSUUID = 2<<30 | unsafe.Sizeof(id)<<16 | 0x15<<8
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(h), getFSUUID, uintptr(unsafe.Pointer(&id)))
	if errno != 0 || int(id.length) > len(id.bytes) || id.bytes == [16]byte{} {
		return "" // a file system made without a UUID is like any other of its kind
	}
	return formatUUID(id.bytes[:id.length])
}

// btrfsUUID asks BTRFS_IOC_FS_INFO of linux/btrfs.h, _IOR(0x94, 31, struct
// btrfs_ioctl_fs_info_args): btrfs does not answer the other call, and its fsid
// is another for each subvolume.
func btrfsUUID(h handle) string {
	var info struct {
		maxID, devices uint64
		id             [16]byte
		_              [992]byte
	}
	const getInfo = 2<<30 | unsafe.Sizeof(info)<<16 | 0x94<<8 | 31
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(h), getInfo, uintptr(unsafe.Pointer(&info)))
	if errno != 0 {
		return ""
	}
	return formatUUID(info.id[:])
}

// formatUUID writes it as blkid and findmnt do; shorter ids have no groups.
func formatUUID(id []byte) string {
	if len(id) != 16 {
		return hex.EncodeToString(id)
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// udevUUID finds the name under which udev keeps the device.
func udevUUID(device string) string {
	const byUUID = "/dev/disk/by-uuid"
	var want, st unix.Stat_t
	if !strings.HasPrefix(device, "/") || unix.Stat(device, &want) != nil || want.Mode&unix.S_IFMT != unix.S_IFBLK {
		return ""
	}
	entries, err := os.ReadDir(byUUID)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if unix.Stat(filepath.Join(byUUID, e.Name()), &st) == nil && st.Rdev == want.Rdev {
			return e.Name()
		}
	}
	return ""
}
