package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// work is a kind of tree that people copy.
type work struct {
	name  string
	share float64 // of the bytes of all trees
	plan  func(size int64, random *rand.Rand) []file
}

// file is one planned file.
type file struct {
	path string // "/" separates
	size int64
	text bool // of words, not of random bytes: some drives and file systems compress
}

// works are the trees of the reports that people quote, scaled. At DefaultSize
// the photos are fewer than the thousands that people have and the mixed tree has
// half its 522 MB; the counts of the small files are true.
var works = []work{
	{"one file", 0.40, planLarge},
	{"photos", 0.30, planPhotos},
	{"mixed", 0.25, planMixed},
	{"texts", 0.05, planTexts},
}

// files is the plan of the tree: the same for the same size on every machine.
func (w work) files(total int64) []file {
	return w.plan(int64(float64(total)*w.share), rand.New(w.source()))
}

func (w work) source() *rand.ChaCha8 {
	var seed [32]byte
	copy(seed[:], "the bench of hourhand: "+w.name)
	return rand.NewChaCha8(seed)
}

func planLarge(size int64, _ *rand.Rand) []file {
	return []file{{path: "video.mov", size: size}}
}

// mostFiles bounds the trees of photos and texts: more teach nothing more.
const mostFiles = 100_000

// planPhotos are of 2 to 6 MB, as phones and cameras write them; where that
// would be fewer than eight, there are eight smaller ones.
func planPhotos(size int64, random *rand.Rand) []file {
	size = min(size, mostFiles*4_000_000)
	n := max(8, size/4_000_000)
	return share(size, n, func(int64) float64 { return 2 + 4*random.Float64() }, func(i int64) file {
		return file{path: fmt.Sprintf("DCIM/%03dCAMERA/IMG_%05d.JPG", 100+i/500, i)}
	})
}

// planTexts are of 0.5 to 4 KB, fifty to a folder.
func planTexts(size int64, random *rand.Rand) []file {
	size = min(size, mostFiles*2_000)
	n := max(50, size/2_000)
	return share(size, n, func(int64) float64 { return 0.5 + 3.5*random.Float64() }, func(i int64) file {
		return file{path: fmt.Sprintf("notes/%03d/%02d.txt", i/50, i%50), text: true}
	})
}

// mixedFiles are those of the tree in the report from which the measurements of
// Hourhand began, which has 429 folders: these leaves, 20 above them, and one
// above all. mixedFull is the least size that has them all.
const (
	mixedFiles, mixedLeaves, mixedTops = 6313, 408, 20
	mixedFull                          = 20_000_000
)

// planMixed has the sizes of a home folder: most files are small, most bytes lie
// in a few large ones (log-normal, the median a fifteenth of the mean).
func planMixed(size int64, random *rand.Rand) []file {
	scale := min(1, float64(size)/mixedFull)
	n, leaves := max(20, int64(mixedFiles*scale)), max(4, int64(mixedLeaves*scale))
	return share(size, n, func(int64) float64 { return math.Exp(2.3 * random.NormFloat64()) }, func(i int64) file {
		leaf := i % leaves // each has some
		return file{path: fmt.Sprintf("home/%02d/%03d/file-%04d.dat", leaf%mixedTops, leaf, i), text: i%3 == 0}
	})
}

// share deals size out over n files by their weights. What rounding leaves goes
// to the last.
func share(size, n int64, weight func(int64) float64, make func(int64) file) []file {
	files, weights, sum := []file{}, []float64{}, 0.0
	for i := range n {
		files, weights = append(files, make(i)), append(weights, weight(i))
		sum += weights[i]
	}
	left := size
	for i := range files {
		files[i].size = min(left, int64(float64(size)*weights[i]/sum))
		left -= files[i].size
	}
	files[n-1].size += left
	return files
}

// written is the time of every file: long ago, so that no program takes one for
// fresh.
var written = time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)

// write makes the tree in root, which must not exist.
func (w work) write(ctx context.Context, root string, files []file) error {
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	random, block := w.source(), make([]byte, 1<<20)
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := f.write(ctx, path, random, block); err != nil {
			return err
		}
	}
	return nil
}

func (f file) write(ctx context.Context, path string, random *rand.ChaCha8, block []byte) error {
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for left := f.size; left > 0 && err == nil; {
		if err = ctx.Err(); err != nil {
			break
		}
		piece := block[:min(left, int64(len(block)))]
		random.Read(piece) // never fails
		if f.text {
			spell(piece)
		}
		_, err = to.Write(piece)
		left -= int64(len(piece))
	}
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Chtimes(path, written, written)
}

// spell makes words of random bytes.
func spell(b []byte) {
	const letters = "eeeeeettttaaaooiinnsshhrrddllu     \n"
	for i, c := range b {
		b[i] = letters[int(c)%len(letters)]
	}
}

// sum is the bytes of files and the number of their folders.
func sum(files []file) (bytes, folders int64) {
	seen := map[string]bool{}
	for _, f := range files {
		bytes += f.size
		for at := filepath.Dir(filepath.FromSlash(f.path)); at != "." && !seen[at]; at = filepath.Dir(at) {
			seen[at] = true
		}
	}
	return bytes, int64(len(seen))
}
