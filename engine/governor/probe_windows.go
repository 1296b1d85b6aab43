package governor

import (
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/hourhand/hourhand/engine/tree"
)

// probe asks IOCTL_DISK_PERFORMANCE of winioctl.h through handles without access
// rights, as Task Manager's counters are open to every user.
type probe struct {
	names   []string
	handles []windows.Handle
}

const ioctlDiskPerformance = 0x70020

type diskPerformance struct {
	bytesRead, bytesWritten                       int64
	readTime, writeTime, idleTime                 int64 // 100 ns
	readCount, writeCount, queueDepth, splitCount uint32
	queryTime                                     int64
	device                                        uint32
	manager                                       [8]uint16
}

func newProbe(drives []tree.Drive) *probe {
	p := &probe{}
	for _, d := range drives {
		for _, disk := range d.Disks {
			if !slices.Contains(p.names, disk) {
				p.add(disk)
			}
		}
	}
	return p
}

func (p *probe) add(disk string) {
	name, err := windows.UTF16PtrFromString(disk)
	if err != nil {
		return
	}
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return
	}
	if _, err := performance(h); err != nil {
		windows.CloseHandle(h)
		return
	}
	p.names = append(p.names, disk)
	p.handles = append(p.handles, h)
}

func (p *probe) close() {
	for _, h := range p.handles {
		windows.CloseHandle(h)
	}
}

// read counts as ours what this process asked for, also from the cache: so in work
// others look slower than they are, and in a rest nothing of ours is left.
func (p *probe) read() counters {
	c := counters{at: time.Now()}
	for i, h := range p.handles {
		d, err := performance(h)
		if err != nil {
			return counters{at: c.at}
		}
		c.disks = append(c.disks, disk{
			name: p.names[i], reads: int64(d.readCount), readBytes: d.bytesRead,
			writes: int64(d.writeCount), writeBytes: d.bytesWritten,
			writing: time.Duration(d.writeTime) * 100,
		})
	}
	c.read, c.written = ownBytes()
	return c
}

func performance(h windows.Handle) (d diskPerformance, err error) {
	var n uint32
	err = windows.DeviceIoControl(h, ioctlDiskPerformance, nil, 0, (*byte)(unsafe.Pointer(&d)), uint32(unsafe.Sizeof(d)), &n, nil)
	return d, err
}

var getProcessIoCounters = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetProcessIoCounters")

func ownBytes() (read, written int64) {
	var c windows.IO_COUNTERS
	ok, _, _ := getProcessIoCounters.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&c)))
	if ok == 0 {
		return 0, 0
	}
	return int64(c.ReadTransferCount), int64(c.WriteTransferCount)
}
