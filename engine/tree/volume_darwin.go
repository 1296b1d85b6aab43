package tree

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

func volumeOf(h handle) (Volume, error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(int(h), &st) }); err != nil {
		return Volume{}, err
	}
	v := Volume{
		FileSystem: unix.ByteSliceToString(st.Fstypename[:]),
		Network:    st.Flags&unix.MNT_LOCAL == 0,
		ReadOnly:   st.Flags&unix.MNT_RDONLY != 0,
		Free:       int64(st.Bavail) * int64(st.Bsize),
		Total:      int64(st.Blocks) * int64(st.Bsize),
		FreeFiles:  int64(st.Ffree),
		NameMax:    maxName,
	}
	switch v.FileSystem { // the same words as elsewhere
	case "msdos":
		v.FileSystem = "vfat"
	case "smbfs":
		v.FileSystem = "cifs"
	}
	v.StableIDs = slices.Contains([]string{"apfs", "hfs"}, v.FileSystem)
	v.ID = volumeUUID(h)
	if v.Network {
		v.ID = v.FileSystem + " " + unix.ByteSliceToString(st.Mntfromname[:])
	}
	return v, nil
}

// maxName is what a folder's record can hold: 255 UTF-16 units in UTF-8.
const maxName = 3 * 255

// volumeUUID asks fgetattrlist(2) for ATTR_VOL_UUID.
func volumeUUID(h handle) string {
	list := unix.Attrlist{Bitmapcount: unix.ATTR_BIT_MAP_COUNT, Volattr: unix.ATTR_VOL_INFO | unix.ATTR_VOL_UUID}
	var answer struct {
		length uint32
		id     [16]byte
	}
	//lint:ignore SA1019 x/sys has no wrapper for it, and another way would need cgo
	_, _, errno := unix.Syscall6(unix.SYS_FGETATTRLIST, uintptr(h), uintptr(unsafe.Pointer(&list)),
		uintptr(unsafe.Pointer(&answer)), unsafe.Sizeof(answer), 0, 0)
	if errno != 0 || answer.length < uint32(unsafe.Sizeof(answer)) {
		return ""
	}
	id := answer.id
	return fmt.Sprintf("%X-%X-%X-%X-%X", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
