//go:build linux && root

package exclude

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repo is a folder tree with git as the judge of what a list leaves out.
type repo struct {
	dir     string
	paths   []string
	folders map[string]bool
}

func newRepo(t *testing.T, r *rand.Rand) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("this test needs git: %v", err)
	}
	x := &repo{dir: t.TempDir(), folders: map[string]bool{}}
	x.git(t, nil, "init", "-q")
	x.grow(t, r, "", 0)
	return x
}

// grow makes files and folders, three levels deep. All names are ASCII: git
// counts bytes, Rules characters.
func (x *repo) grow(t *testing.T, r *rand.Rand, above string, depth int) {
	t.Helper()
	names := []string{"a", "b", "ab", "abc", "a b", "a ", "*", "#a", "!a", ".a", "A", "a]", "{a}", `a\b`, "-", "[", "a0", "+", "a.o", "~"}
	for _, name := range names {
		if depth > 0 && r.IntN(3) > 0 {
			continue
		}
		path := above + name
		x.paths = append(x.paths, path)
		if depth == 3 || r.IntN(2) == 0 {
			if err := os.WriteFile(filepath.Join(x.dir, path), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.Mkdir(filepath.Join(x.dir, path), 0o700); err != nil {
			t.Fatal(err)
		}
		x.folders[path] = true
		x.grow(t, r, path+"/", depth+1)
	}
}

func (x *repo) git(t *testing.T, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", x.dir, "-c", "core.excludesFile=/dev/null", "-c", "core.ignoreCase=false"}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && !(ok && exit.ExitCode() == 1) { // 1: nothing is ignored
		t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

// ignored asks git.
func (x *repo) ignored(t *testing.T, patterns []string) []string {
	t.Helper()
	list := strings.Join(patterns, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(x.dir, ".git/info/exclude"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	out := x.git(t, []byte(strings.Join(x.paths, "\x00")+"\x00"), "check-ignore", "--no-index", "-z", "--stdin")
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
}

// leftOut asks Rules, as the walk does: nothing below a folder that is out.
func (x *repo) leftOut(r *Rules) (out []string) {
	under := "/"
	for _, p := range x.paths { // a folder comes before what is below it
		below := strings.HasPrefix(p, under)
		is, _ := r.Out(p, x.folders[p])
		if below || is {
			out = append(out, p)
		}
		if is && !below && x.folders[p] {
			under = p + "/"
		}
	}
	return out
}

func randomPattern(r *rand.Rand) string {
	tokens := []string{"a", "b", "ab", "c", "*", "*", "?", "**", "**/", "/**", "/**/", "/", "/", "[ab]", "[!a]", "[^b]", "[a-c]",
		"[[:alpha:]]", "[[:punct:]]", "[^[:upper:][:digit:]]", "[[:xdigit:]-z]", "[a-]", "[]a]", "[]-a]", "[+-9]", "[!+-9]", `[\]a]`, `[a\-c]`, "[[:]",
		"***", `\*`, `\a`, `\ `, " ", `\#`, `\!`, ".", "{a}", "{a,b}", "A", `\\`, "-", "!", "#", "~", "+", "0"}
	var p strings.Builder
	if r.IntN(5) == 0 {
		p.WriteByte('!')
	}
	for range 1 + r.IntN(4) {
		p.WriteString(tokens[r.IntN(len(tokens))])
	}
	// git compares the letters before the first wildcard apart, and then takes the
	// ** in a**/b for a whole component, against its documentation.
	if starsAfterLetter.MatchString(p.String()) {
		return randomPattern(r)
	}
	return p.String()
}

var starsAfterLetter = regexp.MustCompile(`[^/*]\*\*+/`)

func TestGitAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	x := newRepo(t, r)
	lists := [][]string{Defaults, {"*", "!*/", "!*.o"}, {"/*", "!/a"}, {"a/**", "!a/**/b"}}
	for range 400 {
		var list []string
		for range 1 + r.IntN(3) {
			if p := randomPattern(r); readable(p) {
				list = append(list, p)
			}
		}
		lists = append(lists, list)
	}
	decided := 0
	for _, list := range lists {
		rules, err := Compile(list)
		if err != nil {
			t.Fatal(err)
		}
		got, want := x.leftOut(rules), x.ignored(t, list)
		decided += len(want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", list, got, want)
		}
	}
	if decided < 10_000 {
		t.Errorf("only %d paths were left out: the patterns match too little", decided)
	}
}

func readable(p string) bool {
	_, err := Compile([]string{p})
	return err == nil
}

// TestGitAgreesWithTheTable asks git what the table of the plain test says.
func TestGitAgreesWithTheTable(t *testing.T) {
	for _, tt := range gitignoreTests {
		path, folder := strings.CutSuffix(tt.path, "/")
		x := &repo{dir: t.TempDir(), paths: []string{path}}
		x.git(t, nil, "init", "-q")
		full := filepath.Join(x.dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if folder {
			err = os.Mkdir(full, 0o700)
		} else {
			err = os.WriteFile(full, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(x.ignored(t, strings.Split(tt.patterns, "\n"))) > 0, tt.out != ""; got != want {
			t.Errorf("%q on %q: git says %v, the table %v", tt.patterns, tt.path, got, want)
		}
	}
}
