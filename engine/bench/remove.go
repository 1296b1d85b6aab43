package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/hourhand/hourhand/engine/tree"
)

// mounted says that something is mounted inside a place: what is behind it is
// not ours, and a removal must not walk into it.
type mounted struct{ place, at string }

func (m *mounted) Error() string {
	return fmt.Sprintf("nothing of %s was removed, because something is mounted inside it, at %s; unmount that, then remove the folder by hand or run a bench there again",
		m.place, m.at)
}

// stragglers is how long the processes of a tool that was stopped may go on to
// write.
const stragglers = 5 * time.Second

// remove removes the place. What somebody else put into it stays, and is told.
func (p *place) remove() error {
	err := p.clear(sourceName, copyName)
	if !p.kept {
		err = errors.Join(err, p.lock.Close())
	}
	if err == nil && !p.kept {
		err = p.clear(lockName, markName)
	}
	if p.kept { // told, perhaps by an earlier clear
		return errors.Join(err, p.lock.Close())
	}
	if err == nil {
		err = p.removeFolder()
	}
	if err != nil {
		return fmt.Errorf("remove the folder of the bench, %s; look what is in it and remove it by hand: %w", p.path, err)
	}
	return nil
}
