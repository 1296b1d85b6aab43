package tree

import (
	"os"
	"runtime"
	"sync"
	"weak"
)

// StartWrite asks the system to begin writing out a range, without waiting, so
// that the sync at the end has little left to do.
func StartWrite(f *os.File, off, n int64) { startWrite(handle(f.Fd()), off, n) }

// cachedBefore are the files that had pages in the cache when Advise saw them:
// these are in use by someone, and stay.
var cachedBefore sync.Map // of weak.Pointer[os.File]

// Advise tells that a file will be read once, from start to end.
func Advise(f *os.File) {
	h := handle(f.Fd())
	if isCached(h) {
		key := weak.Make(f)
		cachedBefore.Store(key, true)
		runtime.AddCleanup(f, func(key weak.Pointer[os.File]) { cachedBefore.Delete(key) }, key)
	}
	adviseSequential(h)
}

// Forget tells that the pages of a file that was read are not needed, unless
// they were in the cache before Advise. Call it before f is closed.
func Forget(f *os.File) {
	if _, inUse := cachedBefore.LoadAndDelete(weak.Make(f)); !inUse {
		dropPages(handle(f.Fd()))
	}
}
