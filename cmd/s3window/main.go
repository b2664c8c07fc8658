// Command s3window is the operator's tool for lakes that the s3window exporter
// writes. It reads the bucket alone and changes nothing.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes of every command.
const (
	exitOK      = 0
	exitDamaged = 1 // what was asked about is not as it should be
	exitFailed  = 2 // the command could not do its work
)

// command is one subcommand. A new one is a line in commands and a file of its
// own.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, out output) int
}

// output is where a command writes: results to stdout, all else to stderr.
type output struct {
	stdout, stderr io.Writer
}

func commands() []command {
	return []command{
		{"verify", "judge a lake from its bucket alone", runVerify},
		{"replay", "send committed windows to an OTLP receiver", runReplay},
		{"version", "what the tool is built from, and what it reads", runVersion},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := dispatch(ctx, os.Args[1:], output{os.Stdout, os.Stderr})
	stop()
	os.Exit(code) //nolint:gocritic // stop has run
}

func dispatch(ctx context.Context, args []string, out output) int {
	if len(args) == 0 {
		usage(out.stderr)
		return exitFailed
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], out)
		}
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(out.stdout)
		return exitOK
	}
	fmt.Fprintf(out.stderr, "s3window: there is no command %q\n\n", args[0])
	usage(out.stderr)
	return exitFailed
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: s3window <command> [flags] s3://bucket/prefix | /directory")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprintln(w, "\ns3window <command> -h shows the flags of a command.")
}
