package main

import (
	"slices"
	"strings"
	"testing"
)

var oddCommand = []string{`/opt/my "apps"/hour%hand`, "agent", "--data", `/home/me/$x & \y`}

func TestStartFilesQuoteEachArgument(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"systemd unit", unitText(oddCommand),
			`ExecStart="/opt/my \"apps\"/hour%%hand" "agent" "--data" "/home/me/$$x & \\y"`},
		{"desktop entry", desktopText(oddCommand),
			`Exec="/opt/my \\"apps\\"/hour%%hand" "agent" "--data" "/home/me/\\$x & \\\\y"`},
		{"launch agent", plistText(oddCommand),
			"<string>/opt/my &#34;apps&#34;/hour%hand</string>\n    <string>agent</string>\n    <string>--data</string>\n    <string>/home/me/$x &amp; \\y</string>"},
	} {
		if !strings.Contains(c.text, c.want+"\n") {
			t.Errorf("%s: got\n%s\nwant in it\n%s", c.name, c.text, c.want)
		}
	}
}

func TestLoginNamesOnlyADataFolderOfItsOwn(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("LOCALAPPDATA", t.TempDir())
	usual, err := systemDataFolder()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir  string
		want []string
	}{
		{usual, []string{"/opt/hourhand", "agent", "--no-browser"}},
		{"/other", []string{"/opt/hourhand", "agent", "--no-browser", "--data", "/other"}},
	} {
		if got := loginCommand("/opt/hourhand", c.dir); !slices.Equal(got, c.want) {
			t.Errorf("with data in %s: got %q, want %q", c.dir, got, c.want)
		}
	}
}
