package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/lake"
)

// verifyFlags are what verify can be told.
type verifyFlags struct {
	target
	verify.Options
	leases leaseFlags
	resume string
	json   bool
	strict bool
	plan   bool
}

func runVerify(ctx context.Context, args []string, out output) int {
	var v verifyFlags
	f := flag.NewFlagSet("verify", flag.ContinueOnError)
	f.SetOutput(out.stderr)
	v.register(f)
	v.leases.register(f)
	f.StringVar(&v.resume, "resume", "", "`file` that keeps what was judged sound: another run with it reads only objects that are new or changed")
	f.BoolVar(&v.json, "json", false, "print the report as JSON")
	f.BoolVar(&v.strict, "strict", false, "uncommitted objects, stray keys, lost entries and duplicates count as damage")
	f.BoolVar(&v.plan, "repair-plan", false, "say for each finding what you can do about it; nothing is done")
	f.BoolVar(&v.SizesOnly, "sizes-only", false, "compare the sizes of objects and do not read them")
	f.BoolVar(&v.Duplicates, "duplicates", false, "look for records that are in a tenant's data of one signal more than once, by their content "+
		"(all columns but received_at and ts); reads every object once more")
	f.StringVar(&v.TempDir, "temp-dir", "", "`directory` for what -duplicates does not hold in memory: 20 bytes a record, objects above 16 MiB")
	f.IntVar(&v.Workers, "workers", 16, "reads at once")
	f.Usage = func() {
		fmt.Fprint(out.stderr, "usage: s3window verify [flags] s3://bucket/prefix | /directory\n\n"+
			"Judges a lake from its bucket alone. Exit code 0: sound, 1: damaged, 2: could not judge.\n\n")
		f.PrintDefaults()
		fmt.Fprint(out.stderr, leaseHelp)
	}
	where, err := parse(f, args)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil {
		var report *verify.Report
		if report, err = v.run(ctx, where, out); err == nil {
			return v.print(report, out)
		}
	}
	fmt.Fprintf(out.stderr, "s3window verify: %v\n", err)
	return exitFailed
}

const maxWorkers = 1024

// validate says what is wrong with the flags, all at once.
func (v *verifyFlags) validate() error {
	var errs []error
	if v.Workers < 1 || v.Workers > maxWorkers {
		errs = append(errs, fmt.Errorf("-workers (%d) must be 1 to %d: how many reads run at once", v.Workers, maxWorkers))
	}
	if v.SizesOnly && v.resume != "" {
		errs = append(errs, errors.New("-resume keeps which objects were read, and -sizes-only reads none: leave one of them out"))
	}
	if v.TempDir != "" && !v.Duplicates {
		errs = append(errs, errors.New("-temp-dir is for -duplicates: give both or none"))
	} else if v.TempDir != "" {
		if info, err := os.Stat(v.TempDir); err != nil || !info.IsDir() {
			errs = append(errs, fmt.Errorf("-temp-dir %q must be a directory", v.TempDir))
		}
	}
	return errors.Join(errs...)
}

func (v *verifyFlags) run(ctx context.Context, where string, out output) (*verify.Report, error) {
	if err := v.validate(); err != nil {
		return nil, err
	}
	l, done, err := v.open(ctx, where)
	if err != nil {
		return nil, err
	}
	defer done()
	disconnect, err := v.leases.open(ctx, l.Ref(), !strings.HasPrefix(where, "s3://"), &v.Options)
	if err != nil {
		return nil, err
	}
	defer disconnect()
	if v.resume != "" {
		if v.Resume, err = verify.OpenResume(v.resume); err != nil {
			return nil, err
		}
		defer func() {
			if closed := v.Resume.Close(); closed != nil {
				fmt.Fprintf(out.stderr, "s3window verify: keep what was judged in %q: %v\n", v.resume, closed)
			}
		}()
	}
	var p verify.Progress
	started := time.Now()
	stop := showProgress(out.stderr, time.Second, func() string { return progressLine(&p, time.Since(started)) })
	report, err := verify.Lake(ctx, l, v.Options, &p)
	stop()
	if err != nil {
		return nil, fmt.Errorf("judge %s: %w%s", l.Ref(), err, advice(err))
	}
	if v.plan {
		report.Plan = verify.Plan(report, l.Ref())
	}
	return report, nil
}

// advice says what to do about an error, where that is known.
func advice(err error) string {
	switch {
	case errors.Is(err, verify.ErrEmpty):
		return "; is the prefix right?"
	case errors.Is(err, lake.ErrNotExist):
		return "; it was there a moment ago: is something deleting from the lake?"
	}
	return ""
}

// print prints the report and returns the exit code.
func (v *verifyFlags) print(r *verify.Report, out output) int {
	if v.strict && len(r.Notes) > 0 {
		r.Sound = false
	}
	if v.json {
		e := json.NewEncoder(out.stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(r); err != nil {
			fmt.Fprintf(out.stderr, "s3window verify: print: %v\n", err)
			return exitFailed
		}
	} else {
		printText(out.stdout, r)
	}
	if !r.Sound {
		return exitDamaged
	}
	return exitOK
}

const maxPartitions = 20

func printText(w io.Writer, r *verify.Report) {
	for i, p := range r.Partitions {
		if i == maxPartitions && len(r.Partitions) > maxPartitions+1 {
			fmt.Fprintf(w, "… and %d partitions more (-json lists all)\n", len(r.Partitions)-i)
			break
		}
		state := "sound"
		if p.Damage > 0 {
			state = fmt.Sprintf("DAMAGED (%d)", p.Damage)
		}
		fmt.Fprintf(w, "tenant %q, %s, sink %s: windows 1 to %d of %d writers, %d records in %d objects, %s: %s\n",
			p.Tenant, p.Signal, p.Sink, p.K, p.Writers, p.Records, p.Objects, size(p.Bytes), state)
	}
	for _, f := range r.Notes {
		fmt.Fprintf(w, "note (%s): %s\n", f.Kind, f)
	}
	for _, f := range r.Damage {
		fmt.Fprintf(w, "DAMAGE (%s): %s\n", f.Kind, f)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(w, "… and %d findings more\n", r.Omitted)
	}
	printExtras(w, r)
	how := "every object read"
	if !r.Content {
		how = "objects not read, sizes only"
	}
	verdict := "sound"
	if !r.Sound {
		verdict = fmt.Sprintf("DAMAGED, %d findings", len(r.Damage))
		if len(r.Damage) == 0 {
			verdict = fmt.Sprintf("NOT ACCEPTED (-strict), %d notes", len(r.Notes))
		}
	}
	fmt.Fprintf(w, "%s: %s (%d partitions, %d windows, %d records, %d objects, %s; %s; %d uncommitted objects, %d lost entries)\n",
		r.Lake, verdict, len(r.Partitions), r.Windows, r.Records, r.Objects, size(r.Bytes), how,
		r.Count(verify.Uncommitted), r.Count(verify.Lost))
}

// printExtras prints what was asked for beside the findings.
func printExtras(w io.Writer, r *verify.Report) {
	for _, p := range r.Plan {
		fmt.Fprintf(w, "plan (%s): %s\n", p.Kind, p.Key)
		for i, step := range p.Steps {
			fmt.Fprintf(w, "  %d. %s\n", i+1, step)
		}
	}
	if d := r.Duplicates; d != nil {
		fmt.Fprintf(w, "duplicates: %d of %d records are copies of others, equal but for when they were received", d.Duplicated, d.Records)
		if d.Unread > 0 {
			fmt.Fprintf(w, "; %d objects could not be looked at", d.Unread)
		}
		fmt.Fprintln(w)
	}
}
