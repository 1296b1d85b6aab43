package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// Names is a sorted list of a folder's names, each once, in bounded memory: a
// long one lies in an unlinked file. Nil has no names. One goroutine may use it.
type Names struct {
	mem   []string
	file  *os.File
	size  int64 // of file
	count int

	next int         // the place of the last look-up
	scan *nameReader // of Find, in file
	err  error
}

// ErrScratch is in errors about the file of a list, to tell them from those of
// the listing.
var ErrScratch = errors.New("the names of a large folder cannot be kept in the data folder")

// ListNames sorts the names that list hands to its argument, batch by batch, in
// any order, also twice. More than limit go to a file in folder scratch. The
// error is that of list, or ErrScratch.
func ListNames(scratch string, limit int, list func(take func([]string) error) error) (*Names, error) {
	x := &Names{}
	var sorter *Sorter
	err := list(func(names []string) error {
		if sorter == nil && len(x.mem)+len(names) <= limit {
			x.mem = append(x.mem, names...)
			return nil
		}
		if sorter == nil {
			sorter = NewSorter(scratch)
			names, x.mem = append(x.mem, names...), nil
		}
		for _, n := range names {
			if err := sorter.Add([]byte(n), nil); err != nil {
				return fmt.Errorf("%w: %w", ErrScratch, err)
			}
		}
		return nil
	})
	if sorter != nil {
		defer sorter.Close()
		if err == nil {
			err = x.store(scratch, sorter)
		}
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	slices.Sort(x.mem)
	x.mem = slices.Compact(x.mem)
	x.count = max(x.count, len(x.mem))
	return x, nil
}

// store writes what a Sorter sorted, as lengths and bytes.
func (x *Names) store(scratch string, sorter *Sorter) (err error) {
	if x.file, err = newScratch(scratch); err != nil {
		return fmt.Errorf("%w: %w", ErrScratch, err)
	}
	w := bufio.NewWriterSize(x.file, namesBuffer)
	var last, head []byte
	for name := range sorter.Sorted() {
		if string(name) == string(last) && x.count > 0 {
			continue
		}
		last = append(last[:0], name...)
		head = binary.AppendUvarint(head[:0], uint64(len(name)))
		w.Write(head) // its errors are told by Flush
		w.Write(name)
		x.size += int64(len(head) + len(name))
		x.count++
	}
	if err = sorter.Err(); err == nil {
		err = w.Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrScratch, err)
	}
	return nil
}

const namesBuffer = 64 << 10

// Len is how many there are.
func (x *Names) Len() int {
	if x == nil {
		return 0
	}
	return x.count
}

// All yields place and name, in order. It ends early at an error: ask Err.
func (x *Names) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		switch {
		case x == nil:
		case x.file == nil:
			for i, n := range x.mem {
				if !yield(i, n) {
					return
				}
			}
		default:
			r := x.reader()
			for i := 0; x.step(r) && yield(i, string(r.name)); i++ {
			}
		}
	}
}

// Find tells a name's place. Names asked for in their order are found at once;
// going back in a list that lies in a file begins anew.
func (x *Names) Find(name string) (at int, ok bool) {
	switch {
	case x == nil:
		return 0, false
	case x.file != nil:
		return x.findInFile(name)
	}
	if x.next > 0 && x.mem[x.next-1] >= name {
		x.next, _ = slices.BinarySearch(x.mem, name)
	}
	for x.next < len(x.mem) && x.mem[x.next] < name {
		x.next++
	}
	return x.next, x.next < len(x.mem) && x.mem[x.next] == name
}

func (x *Names) findInFile(name string) (at int, ok bool) {
	if x.scan == nil || string(x.scan.before) >= name && x.scan.at > 0 {
		x.scan = x.reader()
		x.step(x.scan)
	}
	for string(x.scan.name) < name && x.scan.at+1 < x.count {
		if !x.step(x.scan) {
			return 0, false
		}
	}
	return x.scan.at, x.err == nil && string(x.scan.name) == name
}

// Replace puts a name in place of another one, in a list that is in memory.
func (x *Names) Replace(have, want string) {
	x.mem[slices.Index(x.mem, have)] = want
	slices.Sort(x.mem)
	x.next = 0
}

// Err is the first error of reading the file.
func (x *Names) Err() error {
	if x == nil {
		return nil
	}
	return x.err
}

// Close frees memory and disk.
func (x *Names) Close() error {
	if x == nil || x.file == nil {
		return nil
	}
	return x.file.Close()
}

// nameReader reads a file of names.
type nameReader struct {
	in           *bufio.Reader
	name, before []byte // the present one and the one before it
	at           int    // place of name; -1: none was read
}

func (x *Names) reader() *nameReader {
	return &nameReader{in: bufio.NewReaderSize(io.NewSectionReader(x.file, 0, x.size), namesBuffer), at: -1}
}

// step reads the next name; false: the end, or an error.
func (x *Names) step(r *nameReader) bool {
	if x.err != nil || r.at+1 == x.count {
		return false
	}
	r.name, r.before = r.before, r.name
	n, err := binary.ReadUvarint(r.in)
	if err == nil && n > maxName {
		err = errScratch
	}
	if err == nil {
		r.name = slices.Grow(r.name[:0], int(n))[:n]
		_, err = io.ReadFull(r.in, r.name)
	}
	if err != nil {
		x.err = fmt.Errorf("%w: read back a list of names: %w", ErrScratch, err)
		return false
	}
	r.at++
	return true
}
