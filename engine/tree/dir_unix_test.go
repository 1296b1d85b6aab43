//go:build linux || darwin

package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestLinksAreNeverFollowed(t *testing.T) {
	d, _ := openTemp(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "x")
	must(t, d.Symlink(outside, "folder", true))
	must(t, d.Symlink(filepath.Join(outside, "secret"), "file", false))
	must(t, d.Symlink("loop", "loop", false))
	must(t, d.Symlink("nowhere", "broken", false))

	_, err := d.Sub("folder")
	wantError(t, err, ErrNotFolder)
	for _, name := range []string{"file", "loop", "broken", "folder"} {
		_, _, err = d.OpenFile(name)
		wantError(t, err, ErrNotFile)
		in, err := d.Stat(name)
		if err != nil || in.Kind != Link {
			t.Errorf("%s: got %+v, %v", name, in, err)
		}
		_, err = d.Create(name)
		wantError(t, err, fs.ErrExist)
	}
	target, err := d.Readlink("folder")
	if err != nil || target != outside {
		t.Errorf("got target %q, %v", target, err)
	}
	must(t, d.Link("file", d, "second"))
	if in, _ := d.Stat("second"); in.Kind != Link {
		t.Errorf("a hard link to a link became %+v", in)
	}
	for _, name := range []string{"folder", "file", "second"} {
		must(t, d.Remove(name))
	}
	if _, err := os.Stat(filepath.Join(outside, "secret")); err != nil {
		t.Errorf("removed behind a link: %v", err)
	}
}

func TestLongLinkTargetsAreReadWhole(t *testing.T) {
	d, _ := openTemp(t)
	for _, size := range []int{1, 255, 256, 257, 1000} {
		want := strings.Repeat("t", size)
		must(t, d.Symlink(want, "link", false))
		if got, err := d.Readlink("link"); got != want {
			t.Errorf("got %d bytes of %d, %v", len(got), size, err)
		}
		must(t, d.Remove("link"))
	}
}

// A FIFO without a writer would block an open for ever.
func TestOpenFileTakesRegularFilesOnly(t *testing.T) {
	d, path := openTemp(t)
	must(t, unix.Mkfifo(filepath.Join(path, "fifo"), 0o600))
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	defer unix.Close(socket)
	t.Chdir(path) // the path of a socket has 108 bytes at most
	must(t, unix.Bind(socket, &unix.SockaddrUnix{Name: "socket"}))
	must(t, d.Mkdir("folder"))
	for _, name := range []string{"fifo", "socket", "folder"} {
		_, _, err := d.OpenFile(name)
		wantError(t, err, ErrNotFile)
	}
	for _, name := range []string{"fifo", "socket"} {
		if in, err := d.Stat(name); err != nil || in.Kind != Special || in.Size != 0 {
			t.Errorf("%s: got %+v, %v", name, in, err)
		}
		must(t, d.Remove(name))
	}
}

// A swapper must never get a Sub through a link, whatever it wins.
func TestSubHoldsAgainstASwapper(t *testing.T) {
	d, path := openTemp(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "x")
	real, link := filepath.Join(path, "real"), filepath.Join(path, "link")
	name := filepath.Join(path, "name")
	must(t, os.Mkdir(name, 0o700))
	must(t, os.Symlink(outside, link))
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(name, real)
			os.Rename(link, name)
			os.Rename(name, link)
			os.Rename(real, name)
		}
	}()
	entered := 0
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
		sub, err := d.Sub("name")
		if err != nil {
			continue
		}
		entered++
		if names, _ := sub.Names(); slices.Contains(names, "secret") {
			t.Fatal("went through a link")
		}
		sub.Close()
	}
	close(stop)
	<-done
	if entered == 0 {
		t.Error("never entered the folder: nothing was tried")
	}
}

func TestTimesBeyondTheRangeStayAtItsEnd(t *testing.T) {
	for _, c := range []struct{ sec, nsec, want int64 }{
		{0, 1, 1},
		{-1, 999_999_999, -1},
		{-1_000_000_000, 5, -1_000_000_000_000_000_000 + 5},
		{1 << 60, 0, 1<<63 - 1},
		{-1 << 60, 0, -1 << 63},
	} {
		if got := nanoseconds(c.sec, c.nsec); got != c.want {
			t.Errorf("%d.%09d: got %d, want %d", c.sec, c.nsec, got, c.want)
		}
	}
}
