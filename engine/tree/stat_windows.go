package tree

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// copied are the attributes that belong to the user; the others say how the file
// system keeps a file.
const copied = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM |
	windows.FILE_ATTRIBUTE_ARCHIVE | windows.FILE_ATTRIBUTE_READONLY

// notHere are the attributes of placeholders, whose data a cloud or an archive
// would have to bring: reading them would fill the drive.
const notHere = windows.FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS |
	windows.FILE_ATTRIBUTE_RECALL_ON_OPEN | windows.FILE_ATTRIBUTE_OFFLINE

func statAt(dir handle, name string) (Info, error) {
	h, err := openAt(dir, name, readAttributes, windows.FILE_OPEN, 0)
	if err != nil {
		return Info{}, err
	}
	defer closeHandle(h)
	return statHandle(h)
}

func statHandle(h handle) (Info, error) {
	var st windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(h), &st); err != nil {
		return Info{}, err
	}
	basic, err := basicInfo(h)
	if err != nil {
		return Info{}, err
	}
	in := Info{
		Kind:  kindOf(h, st.FileAttributes),
		Mode:  0o600,
		Attr:  st.FileAttributes & copied,
		MTime: fromTicks(basic.write),
		CTime: fromTicks(basic.change),
		Dev:   uint64(st.VolumeSerialNumber),
		Ino:   uint64(st.FileIndexHigh)<<32 | uint64(st.FileIndexLow),
		Nlink: uint64(st.NumberOfLinks),
	}
	if st.FileAttributes&windows.FILE_ATTRIBUTE_READONLY != 0 {
		in.Mode = 0o400
	}
	if in.Kind == Link {
		in.Attr |= st.FileAttributes & windows.FILE_ATTRIBUTE_DIRECTORY
	}
	if in.Kind == File {
		in.Size = int64(st.FileSizeHigh)<<32 | int64(st.FileSizeLow)
		in.Allocated, err = allocated(h)
	}
	return in, err
}

func kindOf(h handle, attributes uint32) Kind {
	switch {
	case isNameSurrogate(h, attributes):
		return Link
	case attributes&(notHere|windows.FILE_ATTRIBUTE_DEVICE) != 0:
		return Special
	case attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		return Folder
	}
	return File
}

// isNameSurrogate is true for symbolic links, junctions and volume mount points:
// reparse points that stand for another named entity (IsReparseTagNameSurrogate
// of winnt.h). Other reparse points hold the file's own data in another form.
func isNameSurrogate(h handle, attributes uint32) bool {
	const surrogate = 1 << 29
	return attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 && tagInfo(h).tag&surrogate != 0
}

func isReparsePoint(h handle) bool {
	return tagInfo(h).attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0
}

// attributeTag is FILE_ATTRIBUTE_TAG_INFO.
type attributeTag struct{ attributes, tag uint32 }

// tagInfo takes a point whose tag nobody tells for a link: it is not entered.
func tagInfo(h handle) (info attributeTag) {
	if query(h, windows.FileAttributeTagInfo, unsafe.Pointer(&info), unsafe.Sizeof(info)) != nil {
		info.tag = windows.IO_REPARSE_TAG_SYMLINK
	}
	return info
}

// basic is FILE_BASIC_INFO; in a call that sets, a zero time stays as it is.
type basic struct {
	creation, access, write, change int64 // 100 ns since 1601
	attributes                      uint32
	_                               uint32
}

func basicInfo(h handle) (b basic, err error) {
	return b, query(h, windows.FileBasicInfo, unsafe.Pointer(&b), unsafe.Sizeof(b))
}

func setBasic(h handle, b basic) error {
	if b.attributes == 0 {
		b.attributes = windows.FILE_ATTRIBUTE_NORMAL // zero would mean: as it is
	}
	return windows.SetFileInformationByHandle(windows.Handle(h), windows.FileBasicInfo,
		(*byte)(unsafe.Pointer(&b)), uint32(unsafe.Sizeof(b)))
}

func allocated(h handle) (int64, error) {
	var standard struct {
		allocation, end int64
		links           uint32
		pending, folder bool
	}
	err := query(h, windows.FileStandardInfo, unsafe.Pointer(&standard), unsafe.Sizeof(standard))
	return standard.allocation, err
}

func query(h handle, class uint32, info unsafe.Pointer, size uintptr) error {
	return windows.GetFileInformationByHandleEx(windows.Handle(h), class, (*byte)(info), uint32(size))
}

// ticksTo1970 are the 100 ns from 1601, where Windows begins to count.
const ticksTo1970 = 116444736000000000

func fromTicks(t int64) int64 {
	t -= ticksTo1970
	return nanoseconds(t/1e7, t%1e7*100)
}

func toTicks(ns int64) int64 { return ns/100 + ticksTo1970 }
