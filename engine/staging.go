package engine

import (
	"strconv"

	"github.com/hourhand/hourhand/engine/tree"
)

// staging is where a destination's files wait for their names. It is several
// folders, since a folder lets one writer in at a time: with one for all, four
// workers waited for each other.
type staging struct{ folders []*tree.Dir }

// More folders gain no more, and cost each run some messages where the target is
// another machine.
const stagingFolders = 4

func openStaging(own *tree.Dir, slot string) (*staging, error) {
	tmp, err := subMake(own, "tmp")
	if err != nil {
		return nil, err
	}
	defer tmp.Close()
	in, err := subMake(tmp, slot)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s := &staging{}
	for i := range stagingFolders {
		d, err := subMake(in, strconv.Itoa(i))
		if err != nil {
			s.close()
			return nil, err
		}
		s.folders = append(s.folders, d)
	}
	return s, nil
}

// of is the folder of a temp name, always the same for the same name.
func (s *staging) of(temp string) *tree.Dir {
	return s.folders[int(temp[len(temp)-1])%len(s.folders)]
}

// close removes what was not published; what it cannot remove, a later sweep will.
// Of a nil staging there is nothing.
func (s *staging) close() {
	if s == nil {
		return
	}
	for _, d := range s.folders {
		emptyFolder(d)
		d.Close()
	}
}
