package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/s3window/s3window/icebergsync/internal/run"
)

func runStatus(ctx context.Context, args []string, out output) int {
	flags, file := newFlags("status", out)
	c, err := parse(ctx, flags, file, args)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return fail(out, err)
	}
	r, err := run.New(ctx, c, run.Observer{})
	if err != nil {
		return fail(out, err)
	}
	defer r.Close()
	all, err := r.Status(ctx)
	if err != nil {
		return fail(out, err)
	}
	code := exitOK
	for _, t := range all {
		printStatus(out, t)
		if t.Problem != "" {
			code = exitBehind
		}
	}
	return code
}

func printStatus(out output, t run.TableStatus) {
	if t.Missing && len(t.Logs) == 0 {
		return // no tenant has this signal
	}
	switch {
	case t.Missing:
		fmt.Fprintf(out.stdout, "%s: not made yet\n", t.Name)
	default:
		fmt.Fprintf(out.stdout, "%s: at %s, %d snapshots\n", t.Name, t.Location, t.Snapshots)
	}
	if t.Problem != "" {
		fmt.Fprintf(out.stdout, "  stopped: %s\n", t.Problem)
	}
	for _, l := range t.Logs {
		fmt.Fprintf(out.stdout, "  tenant %q: up to window %d, %d wait\n", l.Log.Tenant, l.K, l.Behind)
	}
}

func runVerify(ctx context.Context, args []string, out output) int {
	flags, file := newFlags("verify", out)
	deletes := flags.Bool("deletes", false, "rows were deleted on purpose: fewer than in the manifests are right")
	c, err := parse(ctx, flags, file, args)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return fail(out, err)
	}
	r, err := run.New(ctx, c, run.Observer{})
	if err != nil {
		return fail(out, err)
	}
	defer r.Close()
	code := exitOK
	err = r.Verify(ctx, func(is run.Comparison) {
		verdict := "equal"
		switch {
		case len(is.Twice) > 0:
			verdict = fmt.Sprintf("WRONG: %d files are in it twice, such as %s", len(is.Twice), is.Twice[0])
		case is.Held > is.Rows:
			verdict = "WRONG: there are more in the table"
		case is.Held < is.Rows && !*deletes:
			verdict = "WRONG: rows are missing, or were deleted from the table (then pass -deletes)"
		case is.Held < is.Rows:
			verdict = fmt.Sprintf("%d were deleted", is.Rows-is.Held)
		}
		if verdict[0] == 'W' {
			code = exitBehind
		}
		fmt.Fprintf(out.stdout, "%s, tenant %q: windows 1 to %d have %d rows, the table has %d: %s\n", is.Name, is.Log.Tenant, is.K, is.Rows, is.Held, verdict)
	})
	if err != nil {
		return fail(out, err)
	}
	return code
}
