package tree

import (
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

var setThreadPriority = windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadPriority")

// background lowers CPU, I/O and memory priority together.
func background() {
	const backgroundBegin = 0x10000 // THREAD_MODE_BACKGROUND_BEGIN of winbase.h
	if setThreadPriority.Find() == nil {
		_, _, _ = setThreadPriority.Call(uintptr(windows.CurrentThread()), backgroundBegin)
	}
}

func machineID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer key.Close()
	id, _, _ := key.GetStringValue("MachineGuid")
	return id
}
