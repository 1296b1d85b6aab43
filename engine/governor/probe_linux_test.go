package governor

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hourhand/hourhand/engine/tree"
)

func TestKernelTextsAreRead(t *testing.T) {
	var n [8]int64
	numbers([]byte(" 4850104   845325 340718394  2826749 10631983  5558800 421000360  3374008        0  1220616\n"), n[:])
	if want := [8]int64{4850104, 845325, 340718394, 2826749, 10631983, 5558800, 421000360, 3374008}; n != want {
		t.Errorf("got %v, want %v", n, want)
	}
	io := []byte("rchar: 6976\nwchar: 7\nread_bytes: 8192\nwrite_bytes: 12288\ncancelled_write_bytes: 5\n")
	got := []int64{after(io, "\nread_bytes: "), after(io, "\nwrite_bytes: "), after(io, "\nabsent: ")}
	if want := []int64{8192, 12288, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := after([]byte("some avg10=0.00 total=677775795"), "total="); got != 677775795 {
		t.Errorf("got %d, want 677775795 at the end of the text", got)
	}
}

// What this process writes and syncs reaches the drive's counters and its own.
func TestProbeCountsWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	d, err := tree.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	drive, err := d.Drive()
	if err != nil {
		t.Fatal(err)
	}
	p := newProbe([]tree.Drive{drive, drive})
	defer p.close()
	before := p.read()
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 1 << 20
	data := make([]byte, size)
	rand.Read(data) // nothing that a drive could store as less
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	v, err := d.Volume()
	if err != nil {
		t.Fatal(err)
	}
	if v.FileSystem != "ext4" && v.FileSystem != "xfs" {
		return // tmpfs and overlays have no drive, btrfs may use one of several
	}
	after := p.read()
	if got := after.written - before.written; got < size {
		t.Errorf("got %d bytes of this process, want at least %d", got, size)
	}
	var disks int64
	for i := range after.disks {
		disks += after.disks[i].minus(before.disks[i]).writeBytes
	}
	if disks < size {
		t.Errorf("got %d bytes on the drive, want at least %d", disks, size)
	}
}
