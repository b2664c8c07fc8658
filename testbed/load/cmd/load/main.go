// Command load sends OTLP to collectors and journals what they
// acknowledged.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/s3window/s3window/testbed/load"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run() error {
	var o load.Options
	endpoints := flag.String("endpoints", "127.0.0.1:4317", "OTLP gRPC receivers, comma-separated")
	tenants := flag.String("tenants", "acme,globex,initech", "values of tenant.id, comma-separated")
	signals := flag.String("signals", "logs", "logs, traces, metrics: what the requests are in turn, comma-separated")
	flag.BoolVar(&o.Late, "late", false, "a record of twenty is some hours old")
	path := flag.String("journal", "", "file to append the journal to (required)")
	flag.StringVar(&o.Run, "run", fmt.Sprintf("run%d", time.Now().Unix()), "begins every id")
	flag.IntVar(&o.Senders, "senders", 4, "requests in flight")
	flag.IntVar(&o.Records, "records", 50, "records per request")
	flag.IntVar(&o.Rate, "rate", 1000, "records per second, 0 = no limit")
	flag.IntVar(&o.BodyBytes, "body", 0, "least bytes of a body")
	flag.DurationVar(&o.Duration, "duration", 10*time.Second, "how long, 0 = until interrupted")
	flag.Parse()
	if *path == "" {
		return errors.New("-journal is required")
	}
	o.Endpoints, o.Tenants = strings.Split(*endpoints, ","), strings.Split(*tenants, ",")
	o.Signals = strings.Split(*signals, ",")
	f, err := os.OpenFile(*path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var s load.Stats
	err = load.Run(ctx, o, load.NewJournal(f), &s)
	fmt.Printf("acknowledged %d records, unknown %d, requests that failed %d\n", s.Acked.Load(), s.Unknown.Load(), s.Errors.Load())
	return err
}
