// Command s3window-iceberg keeps Iceberg tables up to date with a lake that the
// s3window exporter writes, as the extension s3window_iceberg does, and says how
// far they are.
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
	exitOK     = 0
	exitBehind = 1 // something is not in its table that should be
	exitFailed = 2 // the command could not do its work
)

// command is one subcommand.
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
		{"sync", "add the windows that tables do not have yet", runSync},
		{"status", "say how far each table is", runStatus},
		{"verify", "hold the rows of tables against the lake's manifests", runVerify},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := dispatch(ctx, os.Args[1:], output{os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
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
	fmt.Fprintf(out.stderr, "s3window-iceberg: there is no command %q\n\n", args[0])
	usage(out.stderr)
	return exitFailed
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: s3window-iceberg <command> -config file.yaml [flags]")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.summary)
	}
	fmt.Fprintln(w, "\nThe file has the settings of the extension s3window_iceberg, or is a collector's")
	fmt.Fprintln(w, "configuration that has the extension. s3window-iceberg <command> -h shows flags.")
}

// fail says why a command could not do its work.
func fail(out output, err error) int {
	fmt.Fprintf(out.stderr, "s3window-iceberg: %v\n", err)
	return exitFailed
}
