// Package bench measures what copying costs on a pair of drives: it makes trees
// of the kinds that people have, copies each in the ways that they could, and
// says which settings of Hourhand suit these drives.
//
// Run is the door. It works in a folder of its own that it makes inside the
// folder it is told, and removes it whatever happens; what a killed bench left
// is removed by the next one in the same place, if it carries our mark. Result
// holds the times, and prints itself as a table (Table) and a page (HTML).
//
// What makes the numbers comparable: each copy is durable before its clock
// stops, the source is cold where the system allows it, the target is fresh,
// the cases alternate (A B C, then C B A) so that drift is charged to all alike,
// and each copy is compared with its source after the clock stopped.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/hourhand/hourhand/engine"
)

// ErrPlace says that a bench may not work in a folder: it holds hours, or
// another bench works there. Test with errors.Is.
var ErrPlace = errors.New("this is no place for a bench")

// ErrStays says that a folder of a bench could not be removed; the text names it.
// Test with errors.Is.
var ErrStays = errors.New("the folder of the bench stays")

const (
	// DefaultSize has the file counts of the reports that people quote, and takes
	// some minutes on a solid drive.
	DefaultSize = 1_000_000_000
	// MinSize is where the largest tree is still larger than what a file costs.
	MinSize = 1_000_000
	// smallestChosen is the least that Run takes without being told to: below, the
	// fixed costs of a run are most of what is measured.
	smallestChosen = 50_000_000

	defaultRounds = 3
)

// Options say what is measured. The zero value of each field but Dir works.
type Options struct {
	Dir    string // a folder on the drive to be measured; the trees are made in it
	To     string // another folder, best on another drive, which the copies go to; "": Dir
	Size   int64  // bytes of all trees together, at least MinSize; 0: DefaultSize, or less where that does not fit
	Rounds int    // times that each case runs on each tree; 0: 3
}

// Progress tells what is in work, at the beginning of each step.
type Progress struct {
	Work  string // the tree: "photos"
	Case  string // the case: "cp -a"; "" while the tree is made
	Round int    // from 1; 0 while the tree is made
	Done  int64  // bytes written, of Total
	Total int64

	Places []string // the folders that the bench made, in Dir and To: all of it is in them
}

// Run measures. It returns ErrPlace, engine.ErrNoTarget (Dir or To is no
// folder), engine.ErrNoSpace (at the start with numbers, or in the middle),
// engine.ErrUsage, ctx.Err(), or what else stopped it. A tool that fails is left
// out of the result and named there. notify, which may be nil, is called from
// one goroutine at a time.
func Run(ctx context.Context, o Options, notify func(Progress)) (Result, error) {
	cases, leftOut := allCases()
	r := race{works: works, cases: cases, notify: notify}
	res, err := r.measure(ctx, o)
	res.LeftOut = append(leftOut, res.LeftOut...)
	return res, err
}

// measure is Run for the works and cases of r.
func (r *race) measure(ctx context.Context, o Options) (res Result, err error) {
	r.rounds = cmp.Or(o.Rounds, defaultRounds)
	if r.rounds < 0 || o.Size < 0 || o.Size > 0 && o.Size < MinSize {
		return res, fmt.Errorf("%w: a bench takes at least one round and %s", engine.ErrUsage, amount(MinSize))
	}
	removed, err := r.open(&o)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, r.close()) }() // also when something panics
	res = Result{
		Started: time.Now(), System: fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Source: r.source.drive, Target: r.target.drive, Same: r.same, Size: o.Size, Rounds: r.rounds,
	}
	for _, path := range removed {
		res.note("removed what a bench that was killed had left: " + path)
	}
	r.cold = newCooler(o.Size)
	err = r.run(ctx, o.Size, &res)
	res.Cold, res.Ended = r.cold.how(), time.Now()
	res.Advice = advise(res.Cases)
	return res, err
}
