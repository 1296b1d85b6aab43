//go:build root && linux

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// The two tests here are the two halves of a power cut: a writer that promises,
// and a judge of what a cut disk holds. A tool that cuts a logged block device
// runs them:
//
//	go test -c -tags root -o engine.test ./engine
//	powercut -fs ext4 -cut-points 20 -verify './engine.test -test.run ^TestCutJudge$' -- ./engine.test -test.run '^TestCutWriter$'
//
// with MNT set to the mount point. HOURHAND_LEAVE_OUT=second leaves out every
// sync that comes after a rename: the judge must then find broken promises.

// TestCutWriter mirrors a changing source onto MNT and prints each promise.
func TestCutWriter(t *testing.T) {
	mnt := os.Getenv("MNT")
	if mnt == "" {
		return // not asked
	}
	w := newWorld(t)
	w.dst = filepath.Join(mnt, "target")
	w.mkdir(w.dst)
	w.m.Yes = true
	w.m.Dests[0] = Dest{w.dst, 14}
	if os.Getenv("HOURHAND_LEAVE_OUT") == "second" {
		fsync = func(*os.File) error { return nil }
		w.m.hook = func(step, _ string) error {
			if step == "barrier" {
				return errLeftOut
			}
			return nil
		}
	}
	c := &cutSource{w: w, r: rand.New(rand.NewPCG(1, 2)), have: map[string]string{}}
	for round := range 5 {
		before := c.change(round)
		w.run(Done)
		c.promise(before)
	}
}

// cutSource is a source whose files say themselves what they are.
type cutSource struct {
	w    *world
	r    *rand.Rand
	have map[string]string
}

// change adds, replaces and removes files and returns what was there before.
func (c *cutSource) change(round int) (before map[string]string) {
	before = map[string]string{}
	for p, data := range c.have {
		before[p] = data
	}
	for i := range 120 {
		p := fmt.Sprintf("d%d/f%03d", c.r.IntN(6), i)
		switch c.r.IntN(5) {
		case 0:
			c.w.remove(p)
			delete(c.have, p)
		case 1, 2:
			c.put(p, fmt.Sprintf("%s of round %d %s", p, round, strings.Repeat("x", c.r.IntN(20000))), round)
		}
	}
	for i := range 3 { // written past the cache
		c.put(fmt.Sprintf("large/%d", i), fmt.Sprintf("%d of round %d %s", i, round, strings.Repeat("y", directFrom+c.r.IntN(2*directFrom))), round)
	}
	c.put("always", fmt.Sprint("round ", round), round)
	return before
}

func (c *cutSource) put(p, text string, round int) {
	data := fmt.Sprintf("%016x\n%s", xxh3.HashString(text), text)
	c.w.write(p, data)
	at := old.AddDate(0, 0, round)
	c.w.must(os.Chtimes(filepath.Join(c.w.src, p), at, at))
	c.have[p] = data
}

// promise prints what the sealed hour holds now, and what is gone for good.
func (c *cutSource) promise(before map[string]string) {
	for p, data := range c.have {
		if before[p] != data {
			fmt.Printf("ACK target/14/%s %016x\n", p, xxh3.HashString(data))
		}
	}
	for p := range before {
		if _, still := c.have[p]; !still {
			fmt.Printf("ACK target/14/%s -\n", p)
		}
	}
}

// TestCutJudge looks at what a cut left on MNT: no name may hold anything but a
// whole version, and what a sealed state claims must be so.
func TestCutJudge(t *testing.T) {
	mnt := os.Getenv("MNT")
	if mnt == "" {
		return // not asked
	}
	root := filepath.Join(mnt, "target", "14")
	if _, err := os.Stat(root); err != nil {
		return // cut before the first folder
	}
	for p, data := range contents(t, root) {
		sum, text, ok := strings.Cut(data, "\n")
		if !ok || sum != fmt.Sprintf("%016x", xxh3.HashString(text)) {
			t.Errorf("%s holds %d bytes that are no whole version", p, len(data))
		}
	}
	var st State
	data, err := os.ReadFile(filepath.Join(mnt, "target", own, "14.json"))
	if err != nil {
		return
	}
	if err := json.Unmarshal(data, &st); err != nil {
		t.Fatalf("the state is torn: %v: %q", err, data)
	}
	if st.Content == Sealed {
		judgeSealed(t, mnt)
	}
	judgeNext(t, mnt)
}

func judgeSealed(t *testing.T, mnt string) {
	t.Helper()
	audit, err := Verify(context.Background(), Hour{Dest: Dest{filepath.Join(mnt, "target"), 14}}, nil)
	if err != nil || audit.FoundCount > 0 {
		t.Errorf("sealed, and verify finds %v %+v", err, audit.Found)
	}
}

// judgeNext runs once more onto the cut disk: it must converge.
func judgeNext(t *testing.T, mnt string) {
	t.Helper()
	w := newWorld(t)
	w.dst = filepath.Join(mnt, "target")
	w.m.Dests[0] = Dest{w.dst, 14}
	w.m.Yes, w.m.Adopt = true, true
	w.write("d0/f001", "0000000000000000\nanother source")
	w.run(Done)
	w.equal()
}
