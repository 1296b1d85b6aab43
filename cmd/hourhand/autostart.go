package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// Each system has these, in autostart_GOOS.go:
//
//	autostartOn(command []string) (where string, err error)
//	autostartOff() error
//	autostartWhere() (where string, err error) // "" if it is off
//
// command is the program and its arguments; where says, for a person, what
// starts the agent at login.

func (a *app) autostartCommand() *cobra.Command {
	return group("autostart", "start the agent at each login, or not",
		a.autostartOnCommand(), a.autostartOffCommand(), a.autostartStatusCommand())
}

func (a *app) autostartOnCommand() *cobra.Command {
	return &cobra.Command{
		Use: "on", Short: "start the agent at each login", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			command, err := a.autostartArgs()
			if err != nil {
				return err
			}
			where, err := autostartOn(command)
			if err != nil {
				return err
			}
			a.printf("on, from the next login: %s", clean(where))
			return nil
		},
	}
}

func (a *app) autostartOffCommand() *cobra.Command {
	return &cobra.Command{
		Use: "off", Short: "do not start the agent at login", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := autostartOff(); err != nil {
				return err
			}
			a.printf("off")
			return nil
		},
	}
}

func (a *app) autostartStatusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "status", Short: "tell whether the agent starts at login, and by what", Args: cobra.NoArgs}
	jsonFlag(c, &asJSON)
	c.RunE = func(*cobra.Command, []string) error {
		where, err := autostartWhere()
		if err != nil {
			return err
		}
		switch {
		case asJSON:
			return printJSON(a.out, struct {
				On    bool   `json:"on"`
				Where string `json:"where,omitempty"`
			}{where != "", where})
		case where == "":
			a.printf("off")
		default:
			a.printf("on: %s", clean(where))
		}
		return nil
	}
	return c
}

// autostartArgs is the command that a login runs: this program as the agent,
// with the data folder that this call has.
func (a *app) autostartArgs() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if strings.Contains(filepath.ToSlash(program), "/go-build") { // where go run puts it, for as long as it runs
		return nil, fmt.Errorf("this hourhand is gone after this command: build it first (go build ./cmd/hourhand), put it where it can stay, and run that one")
	}
	dir, err := dataFolder(a.data)
	if err != nil {
		return nil, err
	}
	return loginCommand(program, dir), nil
}

// loginCommand names the data folder only if it is not the system's.
func loginCommand(program, dir string) []string {
	command := []string{program, "agent", "--no-browser"}
	if usual, err := systemDataFolder(); err != nil || dir != usual {
		command = append(command, "--data", dir)
	}
	return command
}

// unitText is a systemd user unit. Quoting is that of systemd.syntax(7) and
// systemd.service(5): % and $ mean something in ExecStart.
func unitText(command []string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`)
	return fmt.Sprintf(`[Unit]
Description=Hourhand, 24 verified copies

[Service]
ExecStart=%s
Restart=on-failure
RestartSec=10

[Install]
WantedBy=default.target
`, quoteEach(command, escape))
}

// desktopText is an XDG autostart entry. Exec is quoted by the desktop entry
// specification: once as an argument, and its backslashes once more as a string.
func desktopText(command []string) string {
	escape := strings.NewReplacer(`\`, `\\\\`, `"`, `\\"`, "`", "\\\\`", `$`, `\\$`, `%`, `%%`)
	return fmt.Sprintf(`[Desktop Entry]
Type=Application
Name=Hourhand
Comment=24 verified copies of your files, one for each hour
Exec=%s
Terminal=false
`, quoteEach(command, escape))
}

func quoteEach(command []string, escape *strings.Replacer) string {
	quoted := make([]string, len(command))
	for i, c := range command {
		quoted[i] = `"` + escape.Replace(c) + `"`
	}
	return strings.Join(quoted, " ")
}

// agentLabel names the agent among macOS's launch agents.
const agentLabel = "com.github.hourhand.agent"

// plistText is a macOS launch agent.
func plistText(command []string) string {
	var args strings.Builder
	for _, c := range command {
		args.WriteString("\n    <string>")
		_ = xml.EscapeText(&args, []byte(c)) // a Builder takes everything
		args.WriteString("</string>")
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>%s</string>
  <key>ProgramArguments</key>
  <array>%s
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`, agentLabel, args.String())
}

// writeStartFile puts a file that starts the agent in place.
func writeStartFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
