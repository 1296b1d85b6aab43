package web

import (
	"cmp"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/hourhand/hourhand/agent"
)

// rawPath is a path on its way through forms and the store: names may be any
// bytes, forms change line ends and JSON knows only UTF-8, so it travels in
// base64.
type rawPath string

func (p rawPath) encode() string { return base64.RawURLEncoding.EncodeToString([]byte(p)) }
func (p rawPath) shown() string  { return visible(string(p)) }

func (p rawPath) MarshalText() ([]byte, error) { return []byte(p.encode()), nil }

func (p *rawPath) UnmarshalText(text []byte) (err error) {
	*p, err = parseRawPath(string(text))
	return err
}

func parseRawPath(text string) (rawPath, error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", &agent.FieldError{Field: "folder", Text: "this folder cannot be read from the form; choose it again"}
	}
	if len(b) == 0 {
		return "", nil
	}
	return rawPath(filepath.Clean(string(b))), nil
}

func parseRawPaths(texts []string) ([]rawPath, error) {
	var list []rawPath
	for _, text := range texts {
		p, err := parseRawPath(text)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// folderView is a folder that can be chosen.
type folderView struct {
	Value, Name, Path string
	ID                string // of the place of its size
	Size              string
	On                bool
}

// usualFolders are offered where they exist.
var usualFolders = []string{"Documents", "Pictures", "Desktop", "Music", "Videos", "Movies"}

// folderViews are the usual folders and those that were added.
func (s *Server) folderViews(d draft) []folderView {
	var list []folderView
	for i, p := range offered(d) {
		list = append(list, folderView{
			Value: p.encode(), Name: visible(filepath.Base(string(p))), Path: p.shown(), ID: sizeID(i),
			Size: s.sizes.want(p).word(), On: slices.Contains(d.Folders, p),
		})
	}
	return list
}

func offered(d draft) []rawPath {
	var list []rawPath
	for _, name := range usualFolders {
		if p := filepath.Join(string(home()), name); isFolder(p) {
			list = append(list, rawPath(p))
		}
	}
	for _, p := range d.Folders {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// browseView is the list of folders in one folder. Browsers hide the paths of
// files that are chosen in their own windows, hence ours.
type browseView struct {
	Path   string
	Value  string
	Up     string // encoded; "" at the top
	Places []placeView
	Inside []placeView
	Error  string
}

type placeView struct{ Name, Value string }

// longestList bounds a list of folders.
const longestList = 500

func browse(dir rawPath) *browseView {
	path := string(dir)
	v := &browseView{Path: dir.shown(), Value: dir.encode(), Places: places()}
	if up := filepath.Dir(path); up != path {
		v.Up = rawPath(up).encode()
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		v.Error = visible(readError(err))
	}
	for _, e := range entries {
		if e.IsDir() && len(v.Inside) < longestList {
			v.Inside = append(v.Inside, placeView{visible(e.Name()), rawPath(filepath.Join(path, e.Name())).encode()})
		}
	}
	// Hidden folders come last.
	slices.SortStableFunc(v.Inside, func(a, b placeView) int {
		ah, bh := strings.HasPrefix(a.Name, "."), strings.HasPrefix(b.Name, ".")
		if ah != bh {
			return map[bool]int{true: 1, false: -1}[ah]
		}
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return v
}

func readError(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "You have no right to look into this folder."
	}
	return "This folder cannot be listed: " + err.Error()
}

// places are where to begin to look: home, the top, and what is plugged in.
func places() []placeView {
	list := []placeView{{"Home", home().encode()}}
	if runtime.GOOS != "windows" {
		list = append(list, placeView{"Computer", rawPath("/").encode()})
	}
	for _, p := range pluggedIn() {
		list = append(list, placeView{p.shown(), p.encode()})
	}
	return list
}

// home is the user's folder; without one the top of the file system.
func home() rawPath {
	dir, err := os.UserHomeDir()
	if err != nil {
		dir = string(filepath.Separator)
	}
	return rawPath(dir)
}

// pluggedIn are the folders at which systems mount drives.
func pluggedIn() []rawPath {
	var patterns []string
	switch runtime.GOOS {
	case "windows":
		return driveLetters()
	case "darwin":
		patterns = []string{"/Volumes/*"}
	default:
		patterns = []string{"/media/*/*", "/run/media/*/*", "/mnt/*"}
	}
	var list []rawPath
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // our patterns are well formed
		for _, p := range found {
			if isFolder(p) {
				list = append(list, rawPath(p))
			}
		}
	}
	return list
}

// driveLetters tries all but A, B (floppies, slow to answer).
func driveLetters() []rawPath {
	var list []rawPath
	for letter := 'C'; letter <= 'Z'; letter++ {
		if p := string(letter) + `:\`; isFolder(p) {
			list = append(list, rawPath(p))
		}
	}
	return list
}

// checkFolders refuses what cannot be copied as chosen.
func checkFolders(folders []rawPath) error {
	for _, f := range folders {
		if !isFolder(string(f)) {
			return &agent.FieldError{Field: "folder", Text: "this folder is not there: " + string(f)}
		}
		for _, other := range folders {
			if f != other && within(string(f), string(other)) {
				return &agent.FieldError{Field: "folder", Text: string(f) + " is part of " + string(other) + " already; choose one of them"}
			}
		}
	}
	return nil
}

func checkDrive(drive rawPath, folders []rawPath) error {
	if !isFolder(string(drive)) {
		return &agent.FieldError{Field: "drive", Text: "this folder is not there: " + string(drive)}
	}
	for _, f := range folders {
		if within(string(drive), string(f)) {
			return &agent.FieldError{Field: "drive", Text: "the copies cannot go into the folder that is copied: " + string(f)}
		}
	}
	return nil
}

// within tells whether path is dir or lies below it, by name; the engine looks
// closer before it writes.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// jobName makes a job's name of a folder's: letters, digits, blank, - _ .
func jobName(folder string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_.", r) {
			return r
		}
		return '-'
	}, filepath.Base(folder))
	if name = strings.Trim(name, " -."); name == "" {
		return "Computer"
	}
	return name
}

// driveView is a place for copies with what speaks for and against it.
type driveView struct {
	Value, Path string
	Space       string
	Class, Word string
	Blocked     bool
	On          bool
}

func (s *Server) driveViews(d draft) []driveView {
	list := pluggedIn()
	if d.Drive != "" && !slices.Contains(list, d.Drive) {
		list = append(list, d.Drive)
	}
	var views []driveView
	for _, p := range list {
		v := driveView{Value: p.encode(), Path: p.shown(), On: p == d.Drive, Class: "off", Word: "not looked at"}
		if s.driveOf != nil {
			s.judge(&v, p, d.Folders)
		}
		views = append(views, v)
	}
	return views
}

// judge says whether a drive is good for copies of the folders.
func (s *Server) judge(v *driveView, p rawPath, folders []rawPath) {
	drive, err := s.driveOf(string(p))
	if err != nil {
		v.Class, v.Word, v.Blocked = "bad", "cannot be used: "+visible(err.Error()), true
		return
	}
	v.Space = size(drive.Free) + " free of " + size(drive.Total)
	if drive.FileSystem != "" {
		v.Space += ", " + visible(drive.FileSystem)
	}
	v.Class, v.Word = "ok", "Good"
	switch {
	case drive.ReadOnly:
		v.Class, v.Word, v.Blocked = "bad", "cannot write here", true
	case slices.ContainsFunc(folders, func(f rawPath) bool { return s.sameDrive(drive, f) }):
		v.Class, v.Word = "warn", "same disk as your files: no help if the disk dies"
	case slices.Contains([]string{"vfat", "fat32", "msdos"}, strings.ToLower(drive.FileSystem)):
		v.Class, v.Word = "warn", "files of 4 GB or more cannot be stored"
	}
}

func (s *Server) sameDrive(drive Drive, folder rawPath) bool {
	other, err := s.driveOf(string(folder))
	return err == nil && other.ID != "" && other.ID == drive.ID
}
