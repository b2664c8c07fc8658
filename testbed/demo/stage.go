package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/s3window/s3window/testbed/e2e/process"
	"github.com/s3window/s3window/testbed/judge"
	"github.com/s3window/s3window/testbed/load"
)

const (
	bucket = "lake"
	prefix = "otel"
	config = "testbed/e2e/testdata/collector.yaml"
)

var tenants = []string{"acme", "globex", "initech"}

// stage holds what the demo runs.
type stage struct {
	dir, bin  string
	server    *process.Process
	collector *process.Process
	options   process.Options // of the collector
	stats     load.Stats
}

func say(format string, args ...any) { fmt.Printf("\n— "+format+"\n", args...) }

// end ends every process.
func (s *stage) end() {
	for _, p := range []*process.Process{s.collector, s.server} {
		if p != nil {
			p.Kill()
		}
	}
}

func (s *stage) bucketDir() string { return filepath.Join(s.dir, "buckets", bucket) }

func (s *stage) startServer(ctx context.Context) error {
	if err := os.MkdirAll(s.bucketDir(), 0o755); err != nil {
		return err
	}
	address, err := process.FreeAddress()
	if err != nil {
		return err
	}
	key, secret := "demo", rand.Text()
	s.server, err = process.Start(ctx, process.Options{
		Path:  filepath.Join(s.bin, "versitygw"),
		Args:  []string{"-p", address, "-a", key, "-s", secret, "--keep-alive", "-q", "posix", filepath.Join(s.dir, "buckets")},
		Log:   filepath.Join(s.dir, "s3.log"),
		Ready: address,
	})
	if err != nil {
		return err
	}
	say("An S3 server (versitygw) serves bucket %q at http://%s", bucket, address)
	otlp, err := process.FreeAddress()
	if err != nil {
		return err
	}
	s.options = process.Options{
		Path: filepath.Join(filepath.Dir(s.bin), "otelcol-s3window"),
		Args: []string{"--config", config},
		Env: []string{
			"WAL_DIR=" + filepath.Join(s.dir, "wal"), "OTLP_ENDPOINT=" + otlp, "S3_BUCKET=" + bucket, "S3_ENDPOINT=http://" + address,
			"S3_ACCESS_KEY=" + key, "S3_SECRET_KEY=" + secret, "MAX_AGE=2s",
		},
		Log:   filepath.Join(s.dir, "collector.log"),
		Ready: otlp,
	}
	return nil
}

func (s *stage) startCollector(ctx context.Context) (err error) {
	if s.collector, err = process.Start(ctx, s.options); err == nil {
		say("The collector takes OTLP at %s (configuration: %s; windows are sealed after 2 s)", s.options.Ready, config)
	}
	return err
}

// sendAndKill sends for a while; in the middle the collector is killed and
// started again.
func (s *stage) sendAndKill(ctx context.Context, length time.Duration) error {
	f, err := os.Create(s.journal())
	if err != nil {
		return err
	}
	defer f.Close()
	say("Sending logs of the tenants %q for %v", tenants, length)
	loadCtx, stop := context.WithCancel(ctx)
	defer stop()
	sent := make(chan error, 1)
	go func() {
		sent <- load.Run(loadCtx, load.Options{
			Endpoints: []string{s.options.Ready}, Tenants: tenants, Run: "demo", Senders: 8, Rate: 5000, Duration: length,
		}, load.NewJournal(f), &s.stats)
	}()
	err = s.killInTheMiddle(ctx, length)
	if err != nil {
		stop()
	}
	return errors.Join(err, <-sent)
}

func (s *stage) killInTheMiddle(ctx context.Context, length time.Duration) error {
	if err := s.watch(ctx, length/2); err != nil {
		return err
	}
	s.collector.Kill()
	fmt.Println("  SIGKILL to the collector, in the middle of everything")
	if err := s.watch(ctx, time.Second); err != nil {
		return err
	}
	var err error
	if s.collector, err = process.Start(ctx, s.options); err != nil {
		return err
	}
	fmt.Println("  started again on the same write-ahead queue")
	return s.watch(ctx, length/2-time.Second)
}

// watch reports every two seconds for a while.
func (s *stage) watch(ctx context.Context, d time.Duration) error {
	end := time.NewTimer(d)
	defer end.Stop()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return nil
		case <-tick.C:
			fmt.Printf("  acknowledged %d records, committed %d\n", s.stats.Acked.Load(), s.committed())
		}
	}
}

func (s *stage) journal() string { return filepath.Join(s.dir, "journal.jsonl") }

// awaitCommitted waits until everything that was acknowledged is committed.
func (s *stage) awaitCommitted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	acked := s.stats.Acked.Load()
	say("%d records were acknowledged, %d requests were not (the collector was dead); waiting for the last windows", acked, s.stats.Errors.Load())
	for s.committed() < acked {
		select {
		case <-s.collector.Done():
			return fmt.Errorf("the collector ended:\n%s", s.collector.Tail(4000))
		case <-ctx.Done():
			return fmt.Errorf("%d of %d records are committed: %w; the end of the collector's log:\n%s", s.committed(), acked, ctx.Err(), s.collector.Tail(4000))
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

func (s *stage) stopCollector(context.Context) error { return s.collector.Stop(30 * time.Second) }

func (s *stage) judge(context.Context) error {
	say("A judge that shares no code with the exporter compares the bucket with what the sender was promised")
	f, err := os.Open(s.journal())
	if err != nil {
		return err
	}
	defer f.Close()
	j, err := judge.ReadJournal(f)
	if err != nil {
		return err
	}
	v, err := judge.Judge(os.DirFS(s.bucketDir()), prefix, j)
	if err != nil {
		return err
	}
	fmt.Println("  " + v.String())
	return v.Err()
}
