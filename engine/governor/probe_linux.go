package governor

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// probe keeps the files open that the kernel counts in: each reading at 0 makes
// them anew.
type probe struct {
	names           []string
	stats, inFlight []*os.File // by disk
	own, memory     *os.File
	buf             [1024]byte
}

// newProbe opens what there is; in a container some of it may be missing.
func newProbe(drives []tree.Drive) *probe {
	p := &probe{}
	for _, d := range drives {
		for _, disk := range d.Disks {
			if !slices.Contains(p.names, disk) {
				p.add(disk)
			}
		}
	}
	p.own, _ = os.Open("/proc/self/io")
	p.memory, _ = os.Open("/proc/pressure/memory")
	return p
}

func (p *probe) add(disk string) {
	stat, err := os.Open("/sys/dev/block/" + disk + "/stat")
	if err != nil {
		return
	}
	inFlight, err := os.Open("/sys/dev/block/" + disk + "/inflight")
	if err != nil {
		stat.Close()
		return
	}
	p.names = append(p.names, disk)
	p.stats = append(p.stats, stat)
	p.inFlight = append(p.inFlight, inFlight)
}

func (p *probe) close() {
	for _, f := range slices.Concat(p.stats, p.inFlight, []*os.File{p.own, p.memory}) {
		if f != nil {
			f.Close()
		}
	}
}

// sector is the unit of the block layer's counters, whatever the drive has.
const sector = 512

// read takes about 20 us.
func (p *probe) read() counters {
	c := counters{at: time.Now()}
	if p.own != nil {
		c.read, c.written = p.ownBytes()
		for i := range p.stats {
			c.disks = append(c.disks, p.disk(i))
		}
	}
	if p.memory != nil {
		c.stalled = time.Duration(after(p.text(p.memory), "total=")) * time.Microsecond
	}
	return c
}

// disk reads what Documentation/block/stat.rst tells of.
func (p *probe) disk(i int) disk {
	var n [8]int64
	numbers(p.text(p.stats[i]), n[:])
	var flying [1]int64 // reads, then writes
	numbers(p.text(p.inFlight[i]), flying[:])
	return disk{
		name: p.names[i], reads: n[0], readBytes: n[2] * sector,
		writes: n[4], writeBytes: n[6] * sector, writing: time.Duration(n[7]) * time.Millisecond,
		readsInFlight: flying[0],
	}
}

// numbers fills n with the first fields of text.
func numbers(text []byte, n []int64) {
	i := 0
	for word := range bytes.FieldsSeq(text) {
		if i == len(n) {
			return
		}
		n[i], _ = strconv.ParseInt(string(word), 10, 64)
		i++
	}
}

func (p *probe) ownBytes() (read, written int64) {
	text := p.text(p.own)
	return after(text, "\nread_bytes: "), after(text, "\nwrite_bytes: ")
}

func (p *probe) text(f *os.File) []byte {
	n, _ := f.ReadAt(p.buf[:], 0)
	return p.buf[:n]
}

// after is the number that follows a key, 0 if the key is not there.
func after(text []byte, key string) int64 {
	_, rest, _ := bytes.Cut(text, []byte(key))
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	n, _ := strconv.ParseInt(string(rest[:end]), 10, 64)
	return n
}
