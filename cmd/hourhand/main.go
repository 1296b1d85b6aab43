// Hourhand keeps 24 verified copies of a folder, one for each hour of the day.
// This is its command line: it parses flags, wires the rooms together and turns
// what happened into exit codes. One file is one command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(int(run(os.Args[1:]))) }

// run is the whole program, on the main goroutine (the tray needs that).
func run(args []string) code {
	ctx, stop := untilInterrupted(context.Background())
	defer stop()
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return a.end(cmd, err)
}

// untilInterrupted ends ctx at the first Ctrl-C or its like, so that work ends
// cleanly; a second one ends the process at once. A signal that the caller
// ignores, as nohup does with SIGHUP, stays ignored.
func untilInterrupted(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() { // lives as long as the process
		<-signals
		cancel()
		<-signals
		os.Exit(int(codeCancelled))
	}()
	return ctx, cancel
}

// app is what the commands share.
type app struct {
	in  io.Reader
	out io.Writer // results
	err io.Writer // progress, warnings, errors

	data    string // --data
	started bool   // a command's own code runs: errors are no longer about usage
}

// root is the tree of commands. Without a command it is the agent.
func (a *app) root() *cobra.Command {
	root := a.agentCommand("hourhand")
	root.Short = "Hourhand keeps 24 verified copies of your files, one plain folder for each hour of the day"
	root.Long = root.Short + `.

Without a command it is the agent with its tray icon, and opens the dashboard
(of the agent that runs already, if one does). New here? Say "hourhand try".

Exit codes: 0 complete, 1 failed, 2 usage, 3 some files had problems, 4 held or
refused by a guard, 5 source or target missing, 6 busy or locked, 7 cancelled,
8 verification mismatch, 9 target full. Several targets: the worst.`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = version()
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().StringVar(&a.data, "data", "",
		"the data `folder` (also HOURHAND_DATA; default: the system's place for a program's state)")
	root.AddCommand(
		a.tryCommand(), a.agentCommand("agent"), a.mirrorCommand(), a.verifyCommand(), a.jobsCommand(),
		a.runCommand(), a.fillCommand(), a.approveCommand(),
		a.statusCommand(), a.pauseCommand(), a.resumeCommand(), a.cancelCommand(), a.historyCommand(), a.openCommand(),
		a.benchCommand(), a.doctorCommand(), a.autostartCommand(), a.versionCommand(),
	)
	a.watchStart(root)
	return root
}

// watchStart notes when a command's own code begins: cobra's errors before that
// are about how it was called.
func (a *app) watchStart(cmd *cobra.Command) {
	if check := cmd.Args; check != nil && !cmd.HasSubCommands() {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if check(c, args) != nil {
				return usagef("it is called as: %s", c.UseLine())
			}
			return nil
		}
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(c *cobra.Command, args []string) error {
			a.started = true
			return run(c, args)
		}
	}
	for _, sub := range cmd.Commands() {
		a.watchStart(sub)
	}
}

// end prints what a command ended with, unless the command did, and returns its
// exit code.
func (a *app) end(cmd *cobra.Command, err error) code {
	if err == nil {
		return codeDone
	}
	if _, told := errors.AsType[*exitError](err); told {
		return codeOf(err)
	}
	if !a.started {
		err = usagef("%v", err)
	}
	a.warnf("hourhand: %s", cleanLines(explain(err)))
	if errors.Is(err, errUsage) {
		a.warnf("see: %s --help", cmd.CommandPath())
	}
	return codeOf(err)
}

// warnf writes one line for a person who watches, beside the results.
func (a *app) warnf(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) }

// printf writes one line of the result.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return usagef("%s needs a command after it", c.CommandPath())
	}
	c.AddCommand(subs...)
	return c
}
