package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"go.opentelemetry.io/collector/config/configtls"

	"github.com/s3window/s3window/cmd/s3window/internal/replay"
	"github.com/s3window/s3window/internal/partition"
)

// replayFlags are what replay can be told.
type replayFlags struct {
	target
	replay.Options
	receiver  replay.Receiver
	tls       configtls.ClientConfig
	requestMB float64
	state     string
	skip      bool
}

func runReplay(ctx context.Context, args []string, out output) int {
	r := replayFlags{receiver: replay.Receiver{Headers: map[string]string{}, Backoff: 500 * time.Millisecond}}
	f := flag.NewFlagSet("replay", flag.ContinueOnError)
	f.SetOutput(out.stderr)
	r.registerAs(f, "s3-endpoint")
	r.registerReplay(f)
	f.Usage = func() {
		fmt.Fprint(out.stderr, "usage: s3window replay [flags] s3://bucket/prefix | /directory -endpoint host:4317\n\n"+
			"Sends committed windows to an OTLP receiver (gRPC), each partition in the order of k.\n"+
			"With -state a run goes on where an earlier one ended. A window that was under way is sent\n"+
			"again as a whole: records arrive at least once, and their received_at does not.\n"+
			"A request that the receiver refuses for good is halved until the record is found that it refuses;\n"+
			"there replay ends, or with -skip-refused passes it over.\n"+
			"Exit code 0: all sent, 1: something is damaged or was refused, 2: could not go on.\n\n")
		f.PrintDefaults()
	}
	where, err := parse(f, args)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	code := exitFailed
	if err == nil {
		code, err = r.run(ctx, where, out)
	}
	if err != nil {
		fmt.Fprintf(out.stderr, "s3window replay: %v\n", err)
		var refused *replay.RefusedError
		if errors.As(err, &refused) && !r.skip {
			fmt.Fprintln(out.stderr, "All records before it were sent. Give -skip-refused to write it down and go on without it.")
		}
		if r.state == "" && !r.DryRun {
			fmt.Fprintln(out.stderr, "Without -state nothing is remembered: another run begins anew.")
		}
	}
	return code
}

func (r *replayFlags) registerReplay(f *flag.FlagSet) {
	f.StringVar(&r.receiver.Endpoint, "endpoint", "", "the OTLP receiver, host:port (required unless -dry-run)")
	f.BoolVar(&r.tls.Insecure, "insecure", false, "no TLS")
	f.BoolVar(&r.tls.InsecureSkipVerify, "insecure-skip-verify", false, "TLS, but any certificate will do")
	f.StringVar(&r.tls.CAFile, "ca-file", "", "certificates of authorities instead of the system's")
	f.StringVar(&r.tls.CertFile, "cert-file", "", "client certificate")
	f.StringVar(&r.tls.KeyFile, "key-file", "", "key of the client certificate")
	f.StringVar(&r.tls.ServerName, "server-name", "", "name in the receiver's certificate, if not that of -endpoint")
	f.Func("header", "`name=value` of a header of every request, may be repeated; {tenant} in the value is the records' tenant", func(s string) error {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return errors.New("not name=value")
		}
		r.receiver.Headers[strings.ToLower(k)] = v
		return nil
	})
	f.DurationVar(&r.receiver.Timeout, "timeout", 30*time.Second, "of one try of a request")
	f.DurationVar(&r.receiver.RetryFor, "retry-for", 2*time.Minute, "how long a request is tried that the receiver may take later")
	f.Float64Var(&r.requestMB, "max-request-mib", 3.9, "most MiB of a request; receivers refuse 4 and more unless told otherwise")
	f.StringVar(&r.state, "state", "", "`file` that remembers the last window sent of each partition")
	f.BoolVar(&r.skip, "skip-refused", false, "pass over records that the receiver refuses for good; each is named on stderr, and in the file `STATE`.refused")
	f.BoolVar(&r.DryRun, "dry-run", false, "say what would be sent")
	f.StringVar(&r.Sink, "sink", "", "only this sink")
	f.StringVar(&r.Tenant, "tenant", "", "only this tenant")
	f.Func("signal", "only this `signal`: logs, traces, metrics", func(s string) (err error) {
		r.Signal, err = partition.ParseSignal(s)
		return err
	})
	f.Func("from", "only windows with records received at this `time` or later (RFC 3339)", instant(&r.From))
	f.Func("to", "only windows with records received before this `time`", instant(&r.To))
	f.Func("k", "only windows `first:last` of each partition; either may be left out", func(s string) (err error) {
		r.FirstK, r.LastK, err = numbers(s)
		return err
	})
}

func (r *replayFlags) run(ctx context.Context, where string, out output) (int, error) {
	if err := r.validate(); err != nil {
		return exitFailed, err
	}
	r.RequestBytes = int(r.requestMB * (1 << 20))
	l, done, err := r.open(ctx, where)
	if err != nil {
		return exitFailed, err
	}
	defer done()
	state, err := replay.OpenState(r.state, l.Ref().String(), r.receiver.Endpoint, r.Selection)
	if err != nil {
		return exitFailed, err
	}
	if r.receiver.TLS, err = r.tls.LoadTLSConfig(ctx); err != nil {
		return exitFailed, err
	}
	client, err := replay.Dial(r.receiver)
	if err != nil {
		return exitFailed, err
	}
	defer client.Close()
	out.stderr = &lockedWriter{w: out.stderr}
	if err := r.skipInto(out.stderr); err != nil {
		return exitFailed, err
	}
	var p replay.Progress
	stop := showProgress(out.stderr, time.Second, func() string { return replayLine(&p) })
	parts, err := replay.Lake(ctx, l, client, state, r.Options, &p)
	stop()
	code := r.print(out.stdout, parts, &p)
	if err != nil {
		return exitFailed, err
	}
	return code, nil
}

// skipInto has the replay pass over what is refused, if it is to.
func (r *replayFlags) skipInto(stderr io.Writer) error {
	if !r.skip {
		return nil
	}
	file, err := replay.OpenRefused(r.refusedPath())
	if err != nil {
		return err
	}
	r.Skip = func(x replay.Refused) error {
		fmt.Fprintf(stderr, "passed over: the receiver refuses %s: %s\n", x, x.Reason)
		return file.Add(x)
	}
	return nil
}

// refusedPath is the file that names what was passed over, beside the state.
func (r *replayFlags) refusedPath() string {
	if r.state == "" {
		return ""
	}
	return r.state + ".refused"
}

// print says what was sent, and returns the exit code.
func (r *replayFlags) print(w io.Writer, parts []replay.Partition, p *replay.Progress) int {
	code, verb := exitOK, "sent"
	if r.DryRun {
		verb = "would send"
	}
	for _, x := range parts {
		fmt.Fprintf(w, "tenant %q, %s, sink %s: ", x.ID.Tenant, x.ID.Signal, x.ID.Sink)
		if x.Windows == 0 {
			fmt.Fprintf(w, "%s nothing", verb)
		} else {
			fmt.Fprintf(w, "%s windows %d to %d (%d), %d records, %s", verb, x.First, x.Last, x.Windows, x.Records, size(x.Bytes))
		}
		if x.Before > 0 {
			fmt.Fprintf(w, "; up to window %d was sent before", x.Before)
		}
		if x.Lost > 0 {
			fmt.Fprintf(w, "; %d records that their manifests report as lost are not among them", x.Lost)
		}
		if x.Skipped > 0 {
			fmt.Fprintf(w, "; %d of them were passed over: the receiver refuses them", x.Skipped)
		}
		fmt.Fprintln(w)
		var damage *replay.DamageError
		if errors.As(x.Err, &damage) {
			fmt.Fprintf(w, "DAMAGE: %v (-k sends what comes behind it)\n", x.Err)
			code = max(code, exitDamaged)
		}
	}
	if n := p.Skipped.Load(); n > 0 {
		fmt.Fprintf(w, "PASSED OVER: %d records that the receiver refuses", n)
		if r.state != "" {
			fmt.Fprintf(w, "; %s names them", r.refusedPath())
		}
		fmt.Fprintln(w)
		code = max(code, exitDamaged)
	}
	if n := p.Refused.Load(); n > 0 {
		fmt.Fprintf(w, "REFUSED: the receiver took the requests, but not %d of their records\n", n)
		code = max(code, exitDamaged)
	}
	return code
}
