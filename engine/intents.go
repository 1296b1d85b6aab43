package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/hourhand/hourhand/engine/manifest"
	"github.com/hourhand/hourhand/engine/tree"
)

// intents is HH.next: what a run is about to put in place or remove, written
// before it does. A line "=N" says that the bytes of the first N intents were
// durable before any of them got its name.
type intents struct {
	f     *os.File
	lines int64
	buf   []byte
}

// openIntents makes the list, beginning with what an unsealed run left in it.
func openIntents(d *tree.Dir, name string) (*intents, error) {
	tmp := name + "~"
	if err := d.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := d.Create(tmp)
	if err != nil {
		return nil, err
	}
	n := &intents{f: f}
	err = n.inherit(d, name)
	if err == nil {
		err = fsync(f)
	}
	if err == nil {
		err = d.Rename(tmp, d, name)
	}
	if err == nil {
		err = syncFolder(d)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open the list of intents %s: %w", name, err)
	}
	return n, nil
}

// inherit copies an older list. Its last line may be torn by a power cut: what
// it announced never got its name.
func (n *intents) inherit(d *tree.Dir, name string) error {
	old, _, err := d.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer old.Close()
	w := bufio.NewWriter(n.f)
	for line, err := range rawLines(old) {
		if err != nil {
			return err
		}
		if line[0] != '=' {
			n.lines++
		}
		if _, err := w.WriteString(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

// add appends lines; they are durable with the next sync of the volume.
func (n *intents) add(lines []manifest.Line) error {
	n.buf = n.buf[:0]
	for _, l := range lines {
		n.buf = manifest.AppendIntent(n.buf, l)
	}
	if _, err := n.f.Write(n.buf); err != nil {
		return err
	}
	n.lines += int64(len(lines))
	return nil
}

// proven notes that the bytes of all lines so far are durable.
func (n *intents) proven() error {
	_, err := n.f.Write(append(strconv.AppendInt(append(n.buf[:0], '='), n.lines, 10), '\n'))
	return err
}

func (n *intents) close() { n.f.Close() }

// countProven finds the last "=N" of a list and goes back to its start.
func countProven(f *os.File) (proven int64, err error) {
	for line, err := range rawLines(f) {
		if err != nil {
			return 0, err
		}
		if n, ok := strings.CutPrefix(line, "="); ok {
			if v, err := strconv.ParseInt(strings.TrimSpace(n), 10, 64); err == nil {
				proven = v
			}
		}
	}
	_, err = f.Seek(0, io.SeekStart)
	return proven, err
}

// rawLines yields a list's whole lines with their line feeds; a torn last one is
// dropped.
func rawLines(f io.Reader) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		r := bufio.NewReader(f)
		for {
			line, err := r.ReadString('\n')
			if err == io.EOF {
				return
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}
