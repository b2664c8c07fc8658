package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"time"

	"github.com/s3window/s3window/icebergsync/internal/run"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

// progressEvery is the time between two lines about a table.
const progressEvery = 2 * time.Second

func runSync(ctx context.Context, args []string, out output) int {
	flags, file := newFlags("sync", out)
	watch := flags.Bool("watch", false, "go on until it is interrupted, as the extension does")
	accept := flags.String("accept-rollback", "", "table that was rolled back: what that took out stays out")
	readd := flags.String("re-add", "", "table that was rolled back: add again what that took out")
	c, err := parse(ctx, flags, file, args)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil && *accept != "" && *readd != "" {
		err = errors.New("of -accept-rollback and -re-add only one can be meant")
	}
	if err != nil {
		return fail(out, err)
	}
	p := &printer{out: out, lines: map[string]time.Time{}}
	r, err := run.New(ctx, c, run.Observer{Skipped: p.skipped, Progress: p.progress})
	if err != nil {
		return fail(out, err)
	}
	defer r.Close()
	if name := *accept + *readd; name != "" {
		if err := r.Settle(ctx, name, *accept != ""); err != nil {
			return fail(out, err)
		}
	}
	for {
		code := pass(ctx, r, out, !*watch)
		if !*watch || ctx.Err() != nil {
			return code
		}
		t := time.NewTimer(c.Interval)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return code
		}
	}
}

// pass makes one pass and prints what it came to.
func pass(ctx context.Context, r *run.Runner, out output, all bool) int {
	results, err := r.Pass(ctx, all)
	if err != nil {
		return fail(out, err)
	}
	code := exitOK
	for _, is := range results {
		if is.Report.Commits > 0 || all {
			fmt.Fprintf(out.stdout, "%s: %d windows, %d files, %d rows in %d commits\n",
				is.Name, is.Report.Windows, is.Report.Files, is.Report.Records, is.Report.Commits)
		}
		if is.Err != nil {
			code = exitBehind
			fmt.Fprintf(out.stdout, "%s: stopped: %v\n", is.Name, is.Err)
		}
		for _, problem := range is.Report.Problems {
			code = exitBehind
			fmt.Fprintf(out.stdout, "%s: %s: %v\n", is.Name, stateOf(problem), problem)
		}
	}
	return code
}

func stateOf(p syncer.Problem) string {
	if p.Blocked {
		return "blocked"
	}
	return "waits"
}

// printer tells of long work.
type printer struct {
	out output

	mu    sync.Mutex // guards lines, and keeps lines whole
	lines map[string]time.Time
}

func (p *printer) skipped(_ string, name table.Name, log syncer.Log, k uint64, format string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out.stderr, "%s: window %d of tenant %q is passed over: no table holds %s\n", name, k, log.Tenant, format)
}

func (p *printer) progress(name table.Name, r syncer.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.lines[name.String()]) < progressEvery {
		return
	}
	p.lines[name.String()] = now
	fmt.Fprintf(p.out.stderr, "%s: %d windows, %d rows in %d commits so far, %d or more to go\n", name, r.Windows, r.Records, r.Commits, r.Behind)
}
