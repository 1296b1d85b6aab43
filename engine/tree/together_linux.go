package tree

import (
	"io/fs"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readTogether hands all reads to the kernel at once, which merges what lies side
// by side on the drive and wakes us once: of tiny files, waiting and waking cost
// more than reading. Where asynchronous I/O is not to be had (a container may
// forbid it), it reads one after the other.
func readTogether(reads []*togetherRead) {
	if len(reads) > 1 {
		if q, err := takeQueue(); err == nil {
			defer q.put()
			reads = q.read(reads)
		}
	}
	for _, r := range reads {
		r.n, r.err = readPiece(r.f, r.buf, 0, r.size)
	}
}

// queue is an io_context of the kernel (io_setup(2)) and what its calls need.
// The kernel writes to it and to the buffers while Go runs on; Go's heap does not
// move, and read does not return before the last answer.
type queue struct {
	id     uintptr
	blocks [Together]iocb
	list   [Together]*iocb
	events [Together]ioEvent
}

// iocb is struct iocb of linux/aio_abi.h.
type iocb struct {
	data   uint64
	_      [2]uint32 // key and flags
	_      uint16    // opcode; 0 is IOCB_CMD_PREAD
	_      int16
	fd     uint32
	buf    uint64
	nbytes uint64
	_      int64 // offset: a group is read from the start of each file
	_      uint64
	_      [2]uint32 // flags, resfd
}

// ioEvent is struct io_event.
type ioEvent struct {
	data, obj uint64
	res, _    int64
}

var (
	queues  sync.Mutex
	idle    []*queue // as many as were ever in use at once
	noQueue error    // that the kernel gives none
)

func takeQueue() (*queue, error) {
	queues.Lock()
	defer queues.Unlock()
	if n := len(idle); n > 0 {
		q := idle[n-1]
		idle = idle[:n-1]
		return q, nil
	}
	if noQueue != nil {
		return nil, noQueue
	}
	q := &queue{}
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, Together, uintptr(unsafe.Pointer(&q.id)), 0); errno != 0 {
		if errno != unix.EAGAIN { // others have them all, at the moment
			noQueue = errno
		}
		return nil, errno
	}
	return q, nil
}

func (q *queue) put() {
	queues.Lock()
	defer queues.Unlock()
	idle = append(idle, q)
}

// read does what it can and gives back what is still to be read. A read that
// came out short may have met the end of its file: that is told by reading on.
func (q *queue) read(reads []*togetherRead) (left []*togetherRead) {
	var pins runtime.Pinner
	defer pins.Unpin()
	for i, r := range reads {
		pins.Pin(&r.buf[0])
		q.blocks[i] = iocb{data: uint64(i), fd: uint32(r.f.Fd()), buf: uint64(uintptr(unsafe.Pointer(&r.buf[0]))), nbytes: uint64(len(r.buf))}
		q.list[i] = &q.blocks[i]
	}
	sent := 0
	for sent < len(reads) {
		n, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, q.id, uintptr(len(reads)-sent), uintptr(unsafe.Pointer(&q.list[sent])))
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || n == 0 {
			break // the first that was not taken; the rest is read without us
		}
		sent += int(n)
	}
	for done := 0; done < sent; {
		n, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, q.id, 1, uintptr(sent-done), uintptr(unsafe.Pointer(&q.events[0])), 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			panic("io_getevents: " + errno.Error()) // answers are to come into memory that would not be ours any more
		}
		for _, e := range q.events[:n] {
			reads[e.data].answer(e.res)
		}
		done += int(n)
	}
	runtime.KeepAlive(reads)
	return reads[sent:]
}

// answer notes the result of one read.
func (r *togetherRead) answer(res int64) {
	switch {
	case res < 0:
		r.err = &fs.PathError{Op: "read", Path: r.f.Name(), Err: unix.Errno(-res)}
	case res == r.size:
		r.n = int(res)
	default:
		r.n, r.err = readPiece(r.f, r.buf, 0, r.size)
	}
}
