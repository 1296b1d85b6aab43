package tree

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

func volumeOf(h handle) (Volume, error) {
	name, flags, serial, err := volumeInformation(h)
	if err != nil {
		return Volume{}, err
	}
	path, err := finalPath(h)
	if err != nil {
		return Volume{}, err
	}
	v := Volume{
		FileSystem: strings.ToLower(name),
		ID:         volumeSerial(h, serial),
		Durable:    "syncs on Windows are not proved by power cuts yet",
		ReadOnly:   flags&windows.FILE_READ_ONLY_VOLUME != 0,
		FreeFiles:  -1,
	}
	if v.FileSystem == "fat32" || v.FileSystem == "fat" {
		v.FileSystem = "vfat"
	}
	if share, ok := strings.CutPrefix(path, `\\?\UNC\`); ok {
		v.Network, v.FileSystem = true, "cifs"
		v.ID = shareOf(share)
	}
	v.StableIDs = slices.Contains([]string{"ntfs", "refs"}, v.FileSystem)
	v.Free, v.Total, err = space(path)
	return v, err
}

// shareOf cuts server\share\folder\... behind the share.
func shareOf(path string) string {
	parts := strings.SplitN(path, `\`, 3)
	return "cifs " + strings.ToLower(strings.Join(parts[:min(2, len(parts))], `\`))
}

func volumeInformation(h handle) (fileSystem string, flags, serial uint32, err error) {
	var name [windows.MAX_PATH + 1]uint16
	var longest uint32
	err = windows.GetVolumeInformationByHandle(windows.Handle(h), nil, 0, &serial, &longest, &flags, &name[0], uint32(len(name)))
	return windows.UTF16ToString(name[:]), flags, serial, err
}

// volumeSerial is the whole number of 64 bits where the file system tells it
// (FILE_ID_INFO), else the half of it that Windows shows.
func volumeSerial(h handle, short uint32) string {
	var id struct {
		serial uint64
		_      [16]byte
	}
	if query(h, windows.FileIdInfo, unsafe.Pointer(&id), unsafe.Sizeof(id)) == nil && id.serial != 0 {
		return fmt.Sprintf("%016x", id.serial)
	}
	return fmt.Sprintf("%08x", short)
}

// finalPath begins with \\?\, so it has no limit of length.
func finalPath(h handle) (string, error) {
	buf := make([]uint16, windows.MAX_PATH)
	for {
		n, err := windows.GetFinalPathNameByHandle(windows.Handle(h), &buf[0], uint32(len(buf)), 0)
		if err != nil {
			return "", err
		}
		if int(n) < len(buf) {
			return windows.UTF16ToString(buf[:n]), nil
		}
		buf = make([]uint16, n+1)
	}
}

func space(path string) (free, total int64, err error) {
	folder, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	var mine, all, rest uint64
	err = windows.GetDiskFreeSpaceEx(folder, &mine, &all, &rest)
	return int64(mine), int64(all), err
}
