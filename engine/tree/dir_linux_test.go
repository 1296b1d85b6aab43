package tree

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAccessTimesStay(t *testing.T) {
	d, path := openTemp(t)
	must(t, d.Mkdir("folder"))
	write(t, filepath.Join(path, "folder", "file"), "x")
	old := time.Unix(1e9, 0) // before the mtime: relatime would change it
	for _, p := range []string{"folder/file", "folder"} {
		must(t, os.Chtimes(filepath.Join(path, p), old, time.Unix(2e9, 0)))
	}
	sub, err := d.Sub("folder")
	must(t, err)
	defer sub.Close()
	_, err = sub.Names()
	must(t, err)
	f, _, err := sub.OpenFile("file")
	must(t, err)
	defer f.Close()
	_, err = f.Read(make([]byte, 1))
	must(t, err)
	for _, p := range []string{"folder/file", "folder"} {
		var st unix.Stat_t
		must(t, unix.Stat(filepath.Join(path, p), &st))
		if int64(st.Atim.Sec) != old.Unix() {
			t.Errorf("%s: reading changed the access time", p)
		}
	}
}

func TestOpenedFilesAreBlockingAndNotInherited(t *testing.T) {
	d, path := openTemp(t)
	write(t, filepath.Join(path, "file"), "x")
	f, _, err := d.OpenFile("file")
	must(t, err)
	defer f.Close()
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	must(t, err)
	if flags&unix.O_NONBLOCK != 0 {
		t.Error("the file is left non-blocking")
	}
	for _, fd := range []uintptr{f.Fd(), uintptr(d.h)} {
		if flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d would be inherited (%v)", fd, err)
		}
	}
}

func TestNamesOfARemovedFolderIsAnError(t *testing.T) {
	d, _ := openTemp(t)
	must(t, d.Mkdir("sub"))
	sub, err := d.Sub("sub")
	must(t, err)
	defer sub.Close()
	must(t, d.Rmdir("sub"))
	if names, err := sub.Names(); err == nil {
		t.Errorf("got %q of a removed folder, want an error", names)
	}
}
