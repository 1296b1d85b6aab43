package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hourhand/hourhand/engine"
)

// small is a tree of each kind of file that takes no time.
var small = []work{{"small", 0.3, planMixed}}

func TestCasesMakeEqualTrees(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	files := small[0].files(MinSize)
	files = append(files, file{path: "large", size: 3*aheadBlock + 17}, file{path: "empty"})
	if err := small[0].write(t.Context(), from, files); err != nil {
		t.Fatal(err)
	}
	want := contents(t, from)
	cases, leftOut := allCases()
	t.Logf("left out: %v", leftOut)
	for i, c := range cases {
		t.Run(c.Title(), func(t *testing.T) {
			to := filepath.Join(dir, fmt.Sprint(i))
			var verified engine.Verified
			if err := c.run(t.Context(), job{from, to, func(string) {}, func() {}, &verified}); err != nil {
				t.Fatal(err)
			}
			if got := contents(t, to); !reflect.DeepEqual(got, want) {
				t.Errorf("the copy differs: %d entries, want %d", len(got), len(want))
			}
			if err := compare(t.Context(), files, to); err != nil {
				t.Error(err)
			}
			readBack := verified.Device.Files + verified.Cache.Files + verified.Server.Files
			if c.Group == Full && readBack != int64(len(files)) {
				t.Errorf("%d files were read back, want %d", readBack, len(files))
			}
		})
	}
}

func TestReadAheadEndsWithItsErrors(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "from"), strings.Repeat("x", 20*aheadBlock))
	in, err := os.Open(filepath.Join(dir, "from"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	full := errors.New("full")
	if err := readAhead(t.Context(), failing{full}, in); !errors.Is(err, full) {
		t.Errorf("writer: got %v, want %v", err, full)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := readAhead(ctx, failing{}, in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want %v", err, context.Canceled)
	}
	in.Close()
	if err := readAhead(t.Context(), failing{}, in); !errors.Is(err, os.ErrClosed) {
		t.Errorf("reader: got %v, want %v", err, os.ErrClosed)
	}
}

type failing struct{ err error }

func (f failing) Write(p []byte) (int, error) { return len(p), f.err }

func TestOrderAlternates(t *testing.T) {
	for round, want := range map[int][]int{1: {0, 1, 2}, 2: {2, 1, 0}, 3: {0, 1, 2}} {
		if got := order(3, round); !reflect.DeepEqual(got, want) {
			t.Errorf("round %d: got %v, want %v", round, got, want)
		}
	}
}

// cases of which one is slow to end: a fake tool.
func someCases(tool func(context.Context, job) error) []runner {
	return []runner{
		{Case{Group: Plain, Name: "naive copy"}, thenFlush(copyWith(naive))},
		{Case{Group: Tools, Name: "tool"}, tool},
		ourCase(Full, engine.ProfileFull, 0),
		ourCase(Source, engine.ProfileFull, 0),
	}
}

func TestMeasureTellsEachStepInTurn(t *testing.T) {
	var steps []string
	r := race{works: small, cases: someCases(copyWith(naive)), notify: func(p Progress) {
		steps = append(steps, fmt.Sprintf("%d %s", p.Round, p.Case))
		if p.Done > p.Total {
			t.Errorf("%d bytes done of %d", p.Done, p.Total)
		}
	}}
	dir := t.TempDir()
	res, err := r.measure(t.Context(), Options{Dir: dir, Size: MinSize, Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	full, source := "hourhand, profile full, verified", "hourhand, profile full, hashed only"
	want := []string{"0 ", "1 naive copy", "1 tool", "1 " + full, "1 " + source, "2 " + source, "2 " + full, "2 tool", "2 naive copy"}
	if !reflect.DeepEqual(steps, want) {
		t.Errorf("got  %q\nwant %q", steps, want)
	}
	for _, c := range res.Cases {
		if len(c.Times) != 1 || len(c.Times[0].Seconds) != 2 {
			t.Errorf("%s has times %v, want two rounds of one tree", c.Name, c.Times)
		}
	}
	if r.at.Done != r.at.Total {
		t.Errorf("at the end %d bytes are done of %d", r.at.Done, r.at.Total)
	}
	if left := contents(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestCancelAtEveryStepLeavesNothing cancels at the beginning of each step, and
// in the middle of a tool's work.
func TestCancelAtEveryStepLeavesNothing(t *testing.T) {
	const steps = 5
	for n := range steps + 1 {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		tool := func(ctx context.Context, j job) error {
			put(t, filepath.Join(j.to, "half"), "x")
			if n == steps {
				cancel()
				<-ctx.Done()
				return ctx.Err()
			}
			return copyWith(naive)(ctx, job{from: j.from, to: filepath.Join(j.to, "again")})
		}
		r := race{works: small, cases: someCases(tool), notify: func(Progress) {
			if seen++; seen == n+1 {
				cancel()
			}
		}}
		dir, to := t.TempDir(), t.TempDir()
		put(t, filepath.Join(dir, "mine"), "precious")
		_, err := r.measure(ctx, Options{Dir: dir, To: to, Size: MinSize, Rounds: 1})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("step %d: got %v, want %v", n, err, context.Canceled)
		}
		if left := contents(t, dir); len(left) != 1 {
			t.Errorf("step %d: left in the source's folder: %v", n, left)
		}
		if left := contents(t, to); len(left) > 0 {
			t.Errorf("step %d: left in the copies' folder: %v", n, left)
		}
		cancel()
	}
}

func TestPanicLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		r := race{works: small, cases: someCases(func(context.Context, job) error { panic("a bug") })}
		_, _ = r.measure(t.Context(), Options{Dir: dir, Size: MinSize, Rounds: 1})
	}()
	if left := contents(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestToolThatFailsIsLeftOut(t *testing.T) {
	for name, tool := range map[string]func(context.Context, job) error{
		"an error":        func(context.Context, job) error { return errors.New("no such switch") },
		"no whole copy":   func(_ context.Context, j job) error { return os.Mkdir(j.to, 0o755) },
		"nothing at all":  func(context.Context, job) error { return nil },
		"files too many":  func(ctx context.Context, j job) error { return withExtra(ctx, j, "more") },
		"one file is cut": func(ctx context.Context, j job) error { return withExtra(ctx, j, "home/00/000/file-0000.dat") },
	} {
		t.Run(name, func(t *testing.T) {
			r := race{works: small, cases: someCases(tool)}
			res, err := r.measure(t.Context(), Options{Dir: t.TempDir(), Size: MinSize, Rounds: 2})
			if err != nil {
				t.Fatal(err)
			}
			if c := res.Cases[1]; c.Failed == "" || len(res.LeftOut) != 1 {
				t.Errorf("failed %q, left out %q; want the tool named once", c.Failed, res.LeftOut)
			}
			if _, ok := res.Cases[0].on("small"); !ok {
				t.Error("the other cases have no times")
			}
		})
	}
}

// withExtra is a whole copy, and then a file of one byte.
func withExtra(ctx context.Context, j job, path string) error {
	if err := copyWith(naive)(ctx, j); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(j.to, filepath.FromSlash(path)), []byte("x"), 0o644)
}

func TestFullDriveIsNoFailureOfATool(t *testing.T) {
	full := fmt.Errorf("exit status 1: %w", engine.ErrNoSpace)
	r := race{works: small, cases: someCases(func(context.Context, job) error { return full })}
	dir := t.TempDir()
	if _, err := r.measure(t.Context(), Options{Dir: dir, Size: MinSize}); !errors.Is(err, engine.ErrNoSpace) {
		t.Errorf("got %v, want %v", err, engine.ErrNoSpace)
	}
	if left := contents(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
