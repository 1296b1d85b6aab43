package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
)

// TestVendoredBytes pins the files of others: they are as their authors made them.
func TestVendoredBytes(t *testing.T) {
	for name, want := range map[string]string{
		"vendor/htmx-4.0.1/htmx.min.js":   "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
		"vendor/htmx-4.0.1/hx-sse.min.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
	} {
		body, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has sha256 %x, want %s", name, sum, want)
		}
	}
}

func TestNamesFollowBytes(t *testing.T) {
	url := URL("app.css")
	if !regexp.MustCompile(`^/static/app\.[0-9a-f]{8}\.css$`).MatchString(url) {
		t.Errorf("got %s, want a name with a hash", url)
	}
	a, ok := Find(strings.TrimPrefix(url, "/static/"))
	if !ok || a.Type != "text/css; charset=utf-8" || !bytes.Contains(a.Body, []byte("@layer")) {
		t.Errorf("got %v, %q", ok, a.Type)
	}
	if hashedName("app.css", []byte("a")) == hashedName("app.css", []byte("b")) {
		t.Error("other bytes got the same name")
	}
	for _, name := range []string{"app.css", "../static.go", "icons/idle.png", ""} {
		if _, ok := Find(name); ok {
			t.Errorf("%q is served", name)
		}
	}
}

func TestEveryFileHasAType(t *testing.T) {
	for name, a := range assets {
		if a.Type == "" {
			t.Errorf("%s has no content type", name)
		}
	}
}

func TestTrayIcons(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"idle", "running", "paused", "failed", "look"} {
		png, ico := TrayIcon(name)
		if !bytes.HasPrefix(png, []byte("\x89PNG")) || !bytes.HasPrefix(ico, []byte{0, 0, 1, 0}) {
			t.Errorf("%s: not a PNG and an ICO", name)
		}
		if other := seen[string(png)]; other != "" {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[string(png)] = name
	}
}
