//go:build linux && root

package tree

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// changeOnDevice changes a file's bytes behind the back of the file system, as
// a bad device would.
func changeOnDevice(t *testing.T, image string, old, new []byte) {
	t.Helper()
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	content, err := os.ReadFile(image)
	must(t, err)
	at := bytes.Index(content, old)
	if at < 0 {
		t.Fatal("the bytes are not on the device")
	}
	_, err = f.WriteAt(new, int64(at))
	must(t, err)
	must(t, f.Sync())
}

func TestReadBackSeesTheDeviceNotTheCache(t *testing.T) {
	for _, c := range []struct {
		name, fileSystem, options string
		mkfs                      []string
	}{
		{"ext4", "ext4", "", nil},
		{"ext4 journalled", "ext4", "data=journal", nil},
		{"xfs", "xfs", "", nil},
	} {
		for _, size := range []int{100, 5000, PieceSize, 3*PieceSize + 17} {
			t.Run(c.name, func(t *testing.T) {
				d, at := mountLoop(t, c.fileSystem, c.options, c.mkfs...)
				v, err := d.Volume()
				must(t, err)
				content := bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
				copy(content, "the first bytes of all")
				f, err := d.Create("file")
				must(t, err)
				defer f.Close()
				_, err = f.Write(content)
				must(t, err)
				s, err := NewSyncer(d, v)
				must(t, err)
				defer s.Close()
				must(t, s.Sync(context.Background(), []*os.File{f}, []*Dir{d}))
				got, past := readBack(t, f, v, Caps{})
				if !past || !bytes.Equal(got, content) {
					t.Fatalf("past %v, equal %v", past, bytes.Equal(got, content))
				}

				if _, err := f.ReadAt(make([]byte, size), 0); err != nil { // into the cache again
					t.Fatal(err)
				}
				changed := bytes.Clone(content)
				copy(changed, "THE FIRST BYTES")
				run(t, "sync", "-f", at)
				changeOnDevice(t, filepath.Join(filepath.Dir(at), "image"), content[:22], changed[:22])
				run(t, "blockdev", "--flushbufs", run(t, "findmnt", "-no", "SOURCE", at))
				got, past = readBack(t, f, v, Caps{})
				if !past || !bytes.Equal(got, changed) {
					t.Errorf("past %v, saw the device %v", past, bytes.Equal(got, changed))
				}
			})
		}
	}
}

func readBack(t *testing.T, f *os.File, v Volume, c Caps) (got []byte, past bool) {
	t.Helper()
	var asked atomic.Int64
	past, err := ReadBack(f, v, c,
		func(n int, do func() error) error { asked.Add(int64(n)); return do() },
		func(p []byte) error { got = append(got, p...); return nil })
	must(t, err)
	if asked.Load() != int64(len(got)) {
		t.Errorf("passed %d bytes, read %d", asked.Load(), len(got))
	}
	must(t, GoBuffered(f)) // for the test's own reads
	return got, past
}

// btrfs finds by itself that the bytes on the device are not those it wrote.
func TestReadBackPassesOnWhatTheFileSystemFinds(t *testing.T) {
	d, at := mountLoop(t, "btrfs", "")
	v, err := d.Volume()
	must(t, err)
	content := bytes.Repeat([]byte("0123456789abcde\n"), 1000)
	copy(content, "the first bytes of all")
	f := stored(t, d, v, content)
	changeOnDevice(t, filepath.Join(filepath.Dir(at), "image"), content[:22], []byte("THE FIRST BYTES"))
	past, err := ReadBack(f, v, Caps{}, atOnce, func([]byte) error { return nil })
	if past {
		t.Error("a failed reading was called past the cache")
	}
	wantError(t, err, unix.EIO)
}

// stored makes a synced file.
func stored(t *testing.T, d *Dir, v Volume, content []byte) *os.File {
	t.Helper()
	f, err := d.Create("file")
	must(t, err)
	t.Cleanup(func() { f.Close() })
	_, err = f.Write(content)
	must(t, err)
	s, err := NewSyncer(d, v)
	must(t, err)
	defer s.Close()
	must(t, s.Sync(context.Background(), []*os.File{f}, []*Dir{d}))
	return f
}

func TestReadBackTellsWhatTheDeviceCannotShow(t *testing.T) {
	text := bytes.Repeat([]byte("compresses well "), 20_000)
	random := make([]byte, 300_001)
	rand.NewChaCha8([32]byte{}).Read(random)
	for _, c := range []struct {
		name, fileSystem, options string
		mkfs                      []string
		content                   []byte
		want                      bool
	}{
		{"btrfs plain", "btrfs", "", nil, random, true},
		{"btrfs inline", "btrfs", "", nil, random[:1000], false},
		{"btrfs compressed", "btrfs", "compress-force=zstd", nil, text, false},
		{"btrfs without checksums", "btrfs", "nodatasum", nil, random, true},
		{"ext4 inline", "ext4", "", []string{"-O", "inline_data", "-I", "256"}, random[:50], false},
		{"ext4 that could be inline", "ext4", "", []string{"-O", "inline_data", "-I", "256"}, random, true},
		{"ext4 empty", "ext4", "", nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := mountLoop(t, c.fileSystem, c.options, c.mkfs...)
			v, err := d.Volume()
			must(t, err)
			caps, err := Probe(d)
			must(t, err)
			got, past := readBack(t, stored(t, d, v, c.content), v, caps)
			if !bytes.Equal(got, c.content) || past != c.want {
				t.Errorf("equal %v, past the cache %v, want %v", bytes.Equal(got, c.content), past, c.want)
			}
		})
	}
}

func TestReadBackOfSharedExtentsIsOfTheCache(t *testing.T) {
	d, at := mountLoop(t, "btrfs", "")
	v, err := d.Volume()
	must(t, err)
	f := stored(t, d, v, bytes.Repeat([]byte("0123456789"), 10_000))
	run(t, "cp", "--reflink=always", filepath.Join(at, "file"), filepath.Join(at, "clone"))
	run(t, "sync", "-f", at)
	if _, past := readBack(t, f, v, Caps{}); past {
		t.Error("a shared extent was called past the cache")
	}
}

// A file with more extents than one answer holds.
func TestReadBackLooksAtEveryExtent(t *testing.T) {
	d, at := mountLoop(t, "btrfs", "")
	v, err := d.Volume()
	must(t, err)
	f, err := d.Create("file")
	must(t, err)
	defer f.Close()
	for i := range int64(100) { // with holes between them
		_, err := f.WriteAt(bytes.Repeat([]byte{byte(i)}, 4096), i*8192)
		must(t, err)
	}
	must(t, f.Sync())
	if flags, err := extentFlags(handle(f.Fd())); err != nil || flags&hiddenData != 0 {
		t.Errorf("got flags %x, %v", flags, err)
	}
	run(t, "xfs_io", "-f", "-c", "reflink "+filepath.Join(at, "file")+" 811008 0 4096", filepath.Join(at, "clone"))
	run(t, "sync", "-f", at)
	if _, past := readBack(t, f, v, Caps{}); past {
		t.Error("the shared last extent was not seen")
	}
}
