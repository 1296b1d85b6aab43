//go:build linux && tray

package tray

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"github.com/hourhand/hourhand/agent"
)

// The tray needs the main goroutine of a process of its own: this test binary,
// started again. It reads statuses from its input, and writes what was clicked.
const childEnv = "HOURHAND_TEST_TRAY"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := Config{
		Watch:    watchInput,
		Open:     func() { fmt.Println("open") },
		StartAll: func() { fmt.Println("start") },
		Pause: func(until time.Time) {
			if until.IsZero() {
				fmt.Println("pause")
				return
			}
			fmt.Println("pause", time.Until(until).Round(time.Minute))
		},
		Resume: func() { fmt.Println("resume") },
		Quit:   cancel,
	}
	if err := Run(ctx, c); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("ended")
}

func watchInput(ctx context.Context) iter.Seq[agent.Status] {
	return func(yield func(agent.Status) bool) {
		for input := json.NewDecoder(os.Stdin); ; {
			var s agent.Status
			if input.Decode(&s) != nil {
				<-ctx.Done()
				return
			}
			if !yield(s) {
				return
			}
		}
	}
}

// desktop is a display and a session bus of their own, on which the test plays
// the desktop's tray.
type desktop struct {
	t     *testing.T
	env   []string
	bus   *dbus.Conn
	items chan address // that registered
}

// address is where a tray icon lives on the bus.
type address struct {
	owner string
	path  dbus.ObjectPath
}

func newDesktop(t *testing.T) *desktop {
	d := &desktop{t: t, items: make(chan address, 8)}
	display := d.start("Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp")
	busAddress := d.start("dbus-daemon", "--session", "--nofork", "--print-address=1")
	d.env = append(os.Environ(), "DISPLAY=:"+display, "DBUS_SESSION_BUS_ADDRESS="+busAddress, "WAYLAND_DISPLAY=", "NO_AT_BRIDGE=1", childEnv+"=1", "TMPDIR="+t.TempDir())
	bus, err := dbus.Connect(busAddress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	d.bus = bus
	return d
}

// start runs a server until the test ends, and returns the first line it prints.
func (d *desktop) start(program string, args ...string) string {
	d.t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			d.t.Fatalf("%s is missing", program)
		}
		d.t.Skipf("%s is missing: the tray cannot be tried", program)
	}
	c := exec.Command(program, args...)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		d.t.Fatalf("%s says nothing: %v", program, err)
	}
	return strings.TrimSpace(line)
}

// RegisterStatusNotifierItem is called by each icon.
func (d *desktop) RegisterStatusNotifierItem(path string, sender dbus.Sender) *dbus.Error {
	d.items <- address{string(sender), dbus.ObjectPath(path)}
	return nil
}

// open puts the tray on the bus.
func (d *desktop) open() {
	d.t.Helper()
	const path = "/StatusNotifierWatcher"
	_, err := prop.Export(d.bus, path, prop.Map{watcher: {
		"IsStatusNotifierHostRegistered": {Value: true, Emit: prop.EmitTrue},
		"ProtocolVersion":                {Value: int32(0), Emit: prop.EmitTrue},
		"RegisteredStatusNotifierItems":  {Value: []string{}, Emit: prop.EmitTrue},
	}})
	if err := errors.Join(err, d.bus.Export(d, path, watcher)); err != nil {
		d.t.Fatal(err)
	}
	reply, err := d.bus.RequestName(watcher, dbus.NameFlagDoNotQueue)
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		d.t.Fatal(reply, err)
	}
}

// child is a process with a tray.
type child struct {
	*desktop
	cmd   *exec.Cmd
	input io.Writer
	lines chan string // what it prints
}

func (d *desktop) run(env ...string) *child {
	d.t.Helper()
	c := &child{desktop: d, cmd: exec.Command(os.Args[0]), lines: make(chan string, 64)}
	c.cmd.Env = append(slices.Clone(d.env), env...)
	c.cmd.Stderr = os.Stderr
	in, inErr := c.cmd.StdinPipe()
	out, outErr := c.cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, c.cmd.Start()); err != nil {
		d.t.Fatal(err)
	}
	c.input = in
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(c.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.lines <- lines.Text()
		}
	}()
	d.t.Cleanup(func() {
		c.cmd.Process.Kill()
		<-read
		c.cmd.Wait()
	})
	return c
}

func (c *child) show(s agent.Status) {
	c.t.Helper()
	if err := json.NewEncoder(c.input).Encode(s); err != nil {
		c.t.Fatal(err)
	}
}

// says waits for a line of the child.
func (c *child) says(want string) {
	c.t.Helper()
	select {
	case got := <-c.lines:
		if got != want {
			c.t.Errorf("the tray says %q, want %q", got, want)
		}
	case <-time.After(10 * time.Second):
		c.t.Fatalf("the tray does not say %q", want)
	}
}

// line is one of the menu, as the desktop gets it.
type line struct {
	id    int32
	label string
	off   bool
}

// node is a dbusmenu layout: (ia{sv}av).
type node struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

// menu reads the whole menu of an icon, submenus in their places, hidden lines
// left out.
func (c *child) menu(i address) (lines []line) {
	c.t.Helper()
	var rev uint32
	var root node
	if err := c.dbusMenu(i).Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&rev, &root); err != nil {
		c.t.Fatal(err)
	}
	var walk func(node)
	walk = func(n node) {
		for _, v := range n.Children {
			var below node
			if err := dbus.Store([]any{v.Value()}, &below); err != nil {
				c.t.Fatal(err)
			}
			if visible, ok := below.Props["visible"]; ok && visible.Value() == false {
				continue
			}
			l := line{id: below.ID, label: "---"}
			if label, ok := below.Props["label"]; ok {
				l.label = label.Value().(string)
			}
			if enabled, ok := below.Props["enabled"]; ok && enabled.Value() == false {
				l.off = true
			}
			lines = append(lines, l)
			walk(below)
		}
	}
	walk(root)
	return lines
}

func (c *child) dbusMenu(i address) dbus.BusObject {
	c.t.Helper()
	v, err := c.bus.Object(i.owner, i.path).GetProperty("org.kde.StatusNotifierItem.Menu")
	if err != nil {
		c.t.Fatal(err)
	}
	return c.bus.Object(i.owner, v.Value().(dbus.ObjectPath))
}

// click does what a person does.
func (c *child) click(i address, label string) {
	c.t.Helper()
	for _, l := range c.menu(i) {
		if l.label == label {
			err := c.dbusMenu(i).Call("com.canonical.dbusmenu.Event", 0, l.id, "clicked", dbus.MakeVariant(int32(0)), uint32(0)).Err
			if err != nil {
				c.t.Fatal(err)
			}
			return
		}
	}
	c.t.Fatalf("the menu has no %q: %v", label, c.menu(i))
}

// until asks again and again until the tray shows what it was told: it answers
// from another process, in its own time.
func (c *child) until(what string, done func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); {
		if time.Now().After(deadline) {
			c.t.Fatalf("the tray does not come to show %s", what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (c *child) icon(i address) []byte {
	c.t.Helper()
	v, err := c.bus.Object(i.owner, i.path).GetProperty("org.kde.StatusNotifierItem.IconName")
	if err != nil {
		c.t.Fatal(err)
	}
	data, _ := os.ReadFile(v.Value().(string)) // "" before the first icon
	return data
}

func (d *desktop) registered() address {
	d.t.Helper()
	select {
	case i := <-d.items:
		return i
	case <-time.After(20 * time.Second):
		d.t.Fatal("no icon has registered")
	}
	return address{}
}

func TestTrayOnADesktop(t *testing.T) {
	d := newDesktop(t)
	d.open()
	c := d.run()
	s := agent.Status{State: agent.Idle, Jobs: []agent.JobStatus{job("Photos", agent.Idle)}, Newest: time.Now(), Next: time.Now()}
	c.show(s)
	i := d.registered()
	c.until("a line for each item", func() bool { return len(c.menu(i)) == len(titles(menuFor(s)))+2 }) // separators
	c.until("the icon", func() bool { return string(c.icon(i)) == string(icons["idle"]) })
	c.until("that all is well", func() bool { return c.menu(i)[0].label == "Everything is protected" }) // clicks are heard by now
	if l := c.menu(i)[0]; !l.off {
		t.Error("the headline can be clicked")
	}

	for _, click := range []struct{ label, says string }{
		{"Open dashboard", "open"}, {"Run now", "start"}, {"For 30 minutes", "pause 30m0s"}, {"For 1 hour", "pause 1h0m0s"}, {"Until I resume", "pause"},
	} {
		c.click(i, click.label)
		c.says(click.says)
	}

	s.State, s.Pause = agent.Paused, agent.Pause{On: true}
	c.show(s)
	c.until("the pause", func() bool {
		return c.menu(i)[0].label == "Paused until you resume" && string(c.icon(i)) == string(icons["paused"])
	})
	c.click(i, "Resume")
	c.says("resume")
	s.State, s.Pause = agent.Failed, agent.Pause{}
	s.Jobs[0].State = agent.Failed
	c.show(s)
	c.until("the failure", func() bool { return string(c.icon(i)) == string(icons["failed"]) })
	c.until("no Resume", func() bool {
		return !slices.ContainsFunc(c.menu(i), func(l line) bool { return l.label == "Resume" })
	})

	c.click(i, "Quit")
	c.says("ended")
}

func TestTrayWaitsForTheDesktop(t *testing.T) {
	d := newDesktop(t)
	c := d.run()
	c.show(agent.Status{State: agent.Pausing})
	select {
	case got := <-c.lines:
		t.Fatalf("without a tray: %q", got)
	case <-time.After(time.Second): // it had time to look once
	}
	d.open()
	i := d.registered()
	c.until("the status of before", func() bool { return len(c.menu(i)) > 0 && c.menu(i)[0].label == "Pausing…" })
	c.click(i, "Quit")
	c.says("ended")
}

func TestNoTrayWithoutDisplayOrBus(t *testing.T) {
	d := newDesktop(t)
	for env, reason := range map[string]string{
		"DISPLAY=":                  "there is no display",
		"DISPLAY=:9999":             "the display cannot be opened",
		"DBUS_SESSION_BUS_ADDRESS=": "there is no session bus",
	} {
		c := d.run(env, "XDG_RUNTIME_DIR=")
		c.says("error: no tray icon: " + reason)
		if err := c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: %v", env, err)
		}
	}
}
