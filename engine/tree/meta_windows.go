package tree

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// setMeta gives attributes and the times of writing and creation in one call.
// Owner and access list come from the folder above, as for any new file.
func setMeta(dst, src handle, in Info) (lost Lost, err error) {
	from, err := basicInfo(src)
	if err != nil {
		return lost, err
	}
	return setBasicOf(dst, in, from.creation)
}

func setLinkMeta(dir handle, name string, in Info) (lost Lost, err error) {
	h, err := openAt(dir, name, writeAttributes, windows.FILE_OPEN, 0)
	if err != nil {
		return refusedTimes(err)
	}
	defer closeHandle(h)
	return setBasicOf(h, in, 0)
}

func setBasicOf(h handle, in Info, creation int64) (lost Lost, err error) {
	now, err := basicInfo(h)
	if err != nil {
		return lost, err
	}
	want := basic{
		creation:   creation,
		write:      toTicks(in.MTime),
		attributes: now.attributes&^copied | in.Attr&copied,
	}
	if want.write == now.write && want.attributes == now.attributes {
		return lost, nil
	}
	err = setBasic(h, want)
	if err == windows.ERROR_ACCESS_DENIED { // opened for reading only
		err = withAttributes(h, func(h handle) error { return setBasic(h, want) })
	}
	return refusedTimes(err)
}

func refusedTimes(err error) (Lost, error) {
	switch {
	case err == nil:
		return Lost{}, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errors.ErrUnsupported), err == windows.ERROR_INVALID_PARAMETER:
		return Lost{Mode: true, Times: true}, nil
	}
	return Lost{}, err
}

// withAttributes opens once more what h is open on, with the right to set them.
func withAttributes(h handle, do func(handle) error) error {
	own, err := openAt(h, "", writeAttributes, windows.FILE_OPEN, 0)
	if err != nil {
		return err
	}
	defer closeHandle(own)
	return do(own)
}

func clearReadOnly(h handle) error {
	b, err := basicInfo(h)
	if err != nil || b.attributes&windows.FILE_ATTRIBUTE_READONLY == 0 {
		return err
	}
	return withAttributes(h, func(h handle) error {
		return setBasic(h, basic{attributes: b.attributes &^ windows.FILE_ATTRIBUTE_READONLY})
	})
}

func setTime(h handle, mtime int64) error {
	return setBasic(h, basic{write: toTicks(mtime)})
}

// sameXattrs: nothing of the kind is copied here.
func sameXattrs(a, b handle) (bool, error) { return true, nil }

// probeMeta: what takes the place of modes are attributes, which every volume
// that Windows knows keeps.
func probeMeta(handle) (modes, xattrs, owner bool) { return false, false, false }
