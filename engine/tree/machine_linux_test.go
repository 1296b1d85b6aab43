package tree

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestBackgroundIsOfTheThreadAlone(t *testing.T) {
	type priority struct{ cpu, io int }
	own := func() priority {
		// The call itself answers 20 minus the nice value, see getpriority(2).
		cpu, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Error(err)
		}
		class, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, 1, 0, 0)
		return priority{20 - cpu, int(class) >> 13}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := own()
	lowered := make(chan priority)
	go func() { // the thread ends with the goroutine, which holds it
		runtime.LockOSThread()
		Background()
		lowered <- own()
	}()
	if got, want := <-lowered, (priority{19, 3}); got != want {
		t.Errorf("got %+v in the background, want %+v", got, want)
	}
	if after := own(); after != before {
		t.Errorf("got %+v elsewhere, before %+v", after, before)
	}
}
