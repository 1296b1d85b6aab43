package tree

import (
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Control codes and structures of winioctl.h. All of them may be asked through a
// handle without any access right, so by every user.
const (
	ioctlVolumeGetVolumeDiskExtents = 0x560000
	ioctlStorageQueryProperty       = 0x2d1400

	storageDeviceSeekPenaltyProperty = 7
)

type diskExtent struct {
	disk             uint32
	_                uint32
	starting, length int64
}

func disksUnder(h handle) (Medium, []string) {
	medium, disks := Solid, []string(nil)
	for _, number := range diskNumbers(h) {
		disk := fmt.Sprintf(`\\.\PhysicalDrive%d`, number)
		medium, disks = medium.join(mediumOf(disk)), append(disks, disk)
	}
	if disks == nil {
		return UnknownMedium, nil
	}
	return medium, disks
}

// diskNumbers are those that the volume of h lies on: several where it is spanned
// or mirrored, at most 16 of which are looked at.
func diskNumbers(h handle) (numbers []uint32) {
	path, err := finalPath(h)
	if err != nil || len(path) < len(`\\?\C:`) || strings.HasPrefix(path, `\\?\UNC\`) {
		return nil
	}
	var answer struct {
		count   uint32
		_       uint32
		extents [16]diskExtent
	}
	if ask(`\\.\`+path[4:6], ioctlVolumeGetVolumeDiskExtents, nil, 0, unsafe.Pointer(&answer), unsafe.Sizeof(answer)) != nil {
		return nil
	}
	for _, e := range answer.extents[:min(int(answer.count), len(answer.extents))] {
		numbers = append(numbers, e.disk)
	}
	return numbers
}

func mediumOf(disk string) Medium {
	query := struct{ property, kind, parameter uint32 }{property: storageDeviceSeekPenaltyProperty}
	var answer struct {
		version, size uint32
		penalty       bool
		_             [3]byte
	}
	err := ask(disk, ioctlStorageQueryProperty, unsafe.Pointer(&query), unsafe.Sizeof(query), unsafe.Pointer(&answer), unsafe.Sizeof(answer))
	switch {
	case err != nil:
		return UnknownMedium
	case answer.penalty:
		return Spinning
	}
	return Solid
}

func ask(device string, code uint32, in unsafe.Pointer, inSize uintptr, out unsafe.Pointer, outSize uintptr) error {
	name, err := windows.UTF16PtrFromString(device)
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	var n uint32
	return windows.DeviceIoControl(h, code, (*byte)(in), uint32(inSize), (*byte)(out), uint32(outSize), &n, nil)
}
