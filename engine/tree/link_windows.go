package tree

import (
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ntPrefix begins the target of a junction as it is stored. Readlink leaves it
// there and Symlink takes it for the wish to make a junction, so that a junction
// stays one and needs no privilege.
const ntPrefix = `\??\`

// reparseData is REPARSE_DATA_BUFFER of ntifs.h up to where names begin; for
// junctions they begin at flags already.
type reparseData struct {
	tag          uint32
	length       uint16 // of what follows reserved
	reserved     uint16
	targetAt     uint16
	targetLength uint16
	printAt      uint16
	printLength  uint16
	flags        uint32
	_            [0]uint16
}

const (
	reparseHeader = unsafe.Offsetof(reparseData{}.targetAt)
	junctionNames = unsafe.Offsetof(reparseData{}.flags)
	symlinkNames  = unsafe.Sizeof(reparseData{})
	relativeLink  = 1 // SYMLINK_FLAG_RELATIVE
)

func readlinkAt(dir handle, name string) (string, error) {
	h, err := openAt(dir, name, readAttributes, windows.FILE_OPEN, 0)
	if err != nil {
		return "", err
	}
	defer closeHandle(h)
	buf := make([]byte, windows.MAXIMUM_REPARSE_DATA_BUFFER_SIZE)
	var n uint32
	err = windows.DeviceIoControl(windows.Handle(h), windows.FSCTL_GET_REPARSE_POINT, nil, 0, &buf[0], uint32(len(buf)), &n, nil)
	if err != nil {
		return "", err
	}
	return linkTarget(buf[:n])
}

// linkTarget reads a reparse point. Of a symbolic link it takes the name that is
// shown, which is the one that was asked for when the link was made.
func linkTarget(buf []byte) (string, error) {
	if len(buf) < int(symlinkNames) {
		return "", ErrUnsupported
	}
	data := (*reparseData)(unsafe.Pointer(&buf[0]))
	switch {
	case data.tag == windows.IO_REPARSE_TAG_MOUNT_POINT:
		return utf16At(buf[junctionNames:], data.targetAt, data.targetLength)
	case data.tag != windows.IO_REPARSE_TAG_SYMLINK:
		return "", ErrUnsupported
	case data.printLength > 0:
		return utf16At(buf[symlinkNames:], data.printAt, data.printLength)
	}
	target, err := utf16At(buf[symlinkNames:], data.targetAt, data.targetLength)
	return strings.TrimPrefix(target, ntPrefix), err
}

func utf16At(names []byte, at, length uint16) (string, error) {
	if length < 2 || int(at)+int(length) > len(names) {
		return "", ErrUnsupported
	}
	return windows.UTF16ToString(unsafe.Slice((*uint16)(unsafe.Pointer(&names[at])), length/2)), nil
}

func symlinkAt(target string, dir handle, name string, folder bool) error {
	kind := uint32(windows.FILE_NON_DIRECTORY_FILE)
	if folder {
		kind = windows.FILE_DIRECTORY_FILE
	}
	data, err := linkData(target)
	if err != nil {
		return err
	}
	allowLinks()
	h, err := openAt(dir, name, windows.FILE_WRITE_ATTRIBUTES|windows.DELETE, windows.FILE_CREATE, kind)
	if err != nil {
		return err
	}
	defer closeHandle(h)
	var n uint32
	err = windows.DeviceIoControl(windows.Handle(h), windows.FSCTL_SET_REPARSE_POINT, &data[0], uint32(len(data)), nil, 0, &n, nil)
	if err != nil {
		erase(h) // leave no empty file in place of the link
	}
	return err
}

// linkData is the reparse point of a link or, for a target as Readlink gives it
// of a junction, of a junction.
func linkData(target string) ([]byte, error) {
	data := reparseData{tag: windows.IO_REPARSE_TAG_SYMLINK}
	stored, names := target, symlinkNames
	switch {
	case strings.HasPrefix(target, ntPrefix):
		data.tag = windows.IO_REPARSE_TAG_MOUNT_POINT
		target, names = strings.TrimPrefix(target, ntPrefix), junctionNames
	case filepath.IsAbs(target):
		stored = ntPrefix + target
	default:
		data.flags = relativeLink
	}
	units, err := windows.UTF16FromString(stored)
	if err != nil {
		return nil, err
	}
	shown, err := windows.UTF16FromString(target)
	if err != nil {
		return nil, err
	}
	data.targetLength = uint16(len(units)-1) * 2
	data.printAt = data.targetLength + 2 // each name ends with a NUL, as junctions need
	data.printLength = uint16(len(shown)-1) * 2
	size := names + uintptr(len(units)+len(shown))*2
	if size > windows.MAXIMUM_REPARSE_DATA_BUFFER_SIZE {
		return nil, windows.ERROR_FILENAME_EXCED_RANGE
	}
	data.length = uint16(size - reparseHeader)
	buf := make([]byte, size)
	copy(buf, unsafe.Slice((*byte)(unsafe.Pointer(&data)), names))
	all := append(units, shown...)
	copy(buf[names:], unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), len(all)*2))
	return buf, nil
}

// allowLinks switches on the right to make symbolic links, where the user has it
// (administrators; in developer mode nobody needs it). What it cannot switch on,
// the link itself will be refused for.
var allowLinks = sync.OnceFunc(func() {
	var token windows.Token
	if windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_PRIVILEGES|windows.TOKEN_QUERY, &token) != nil {
		return
	}
	defer token.Close()
	right := windows.Tokenprivileges{PrivilegeCount: 1}
	right.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
	name, _ := windows.UTF16PtrFromString("SeCreateSymbolicLinkPrivilege")
	if windows.LookupPrivilegeValue(nil, name, &right.Privileges[0].Luid) == nil {
		_ = windows.AdjustTokenPrivileges(token, false, &right, 0, nil, nil)
	}
})
