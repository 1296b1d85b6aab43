package tree

// Volume is the file system that a folder lies on.
type Volume struct {
	ID          string // stable identity (UUID, serial), "" if the platform tells none
	FileSystem  string // "ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuse", "nfs", "cifs", "exfat", "vfat", "ntfs", "apfs", ...
	Network     bool
	StableIDs   bool   // file ids and ctimes survive a remount and mean something
	GroupSync   bool   // one syncfs is a flush: ext4, xfs, btrfs on Linux 5.17 or newer
	PastCache   bool   // read back can reach the device: ext4, xfs, btrfs
	Durable     string // "": a sync reaches the device; else the reason why not provable ("mounted with nobarrier")
	ReadOnly    bool
	Free, Total int64 // bytes; Free is what this user may fill
	FreeFiles   int64 // inodes left, -1 unknown
	NameMax     int   // bytes a name may have; 0 unknown
}

// Volume looks at the file system of d. It asks the system each time, so Free
// and ReadOnly are of this moment.
func (d *Dir) Volume() (Volume, error) {
	v, err := volumeOf(d.h)
	return v, pathError("look at the file system of", d.name, err)
}
