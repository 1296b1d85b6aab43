// Package static embeds what the dashboard and the tray show. Each file of the
// dashboard is served under a name that holds a hash of its bytes, so that a
// browser may keep it for ever and still gets each new one at once.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
)

//go:embed *.css *.js icons/*.svg vendor/htmx-4.0.1/*.js
var files embed.FS

//go:embed icons/*.png icons/*.ico
var trayIcons embed.FS

// Asset is one file as it is served.
type Asset struct {
	Type string // content type
	Body []byte
}

// types is fixed: the system's table may say text/plain for scripts (Windows).
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

var (
	assets = map[string]Asset{}  // by served name: "app.1a2b3c4d.css"
	names  = map[string]string{} // "app.css" -> served name
)

func init() {
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		served := hashedName(name, body)
		names[name] = served
		assets[served] = Asset{Type: types[path.Ext(name)], Body: body}
		return nil
	})
	if err != nil {
		panic(err) // embedded files can be read
	}
}

// hashedName puts eight digits of the hash before the extension.
func hashedName(name string, body []byte) string {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:4]) + ext
}

// URL is the address of an embedded file, "/static/app.1a2b3c4d.css" for
// "app.css". It panics for a name that is not embedded.
func URL(name string) string {
	served, ok := names[name]
	if !ok {
		panic("static: no file " + name)
	}
	return "/static/" + served
}

// Find returns the file that is served under the name after "/static/".
func Find(served string) (Asset, bool) {
	a, ok := assets[served]
	return a, ok
}

// TrayIcon is a tray icon: "idle", "running", "paused", "failed" or "look", which
// differ by shape as well as by colour; the same drawings as icons/NAME.svg. png
// is 64 pixels wide, for Linux and macOS; ico holds 16 to 48 pixels, for Windows.
// It panics for another name.
func TrayIcon(name string) (png, ico []byte) {
	png, err := trayIcons.ReadFile("icons/" + name + ".png")
	if err != nil {
		panic(err)
	}
	ico, err = trayIcons.ReadFile("icons/" + name + ".ico")
	if err != nil {
		panic(err)
	}
	return png, ico
}
