// Command demo shows the exporter at work: a local S3 server, the real
// collector, OTLP logs of three tenants, a SIGKILL in the middle, and what is
// in the bucket afterwards. `make demo` builds what it needs.
//
// Everything lies below -dir and stays there to look at; every process it
// starts ends with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	dir := flag.String("dir", ".demo", "directory for everything the demo leaves; what it left before is removed")
	seconds := flag.Int("seconds", 12, "how long to send")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	started := time.Now()
	if err := run(ctx, *dir, time.Duration(*seconds)*time.Second); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted; every process it started has ended")
		}
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to undo
	}
	fmt.Printf("\nDone in %.0f s. `make demo-clean` removes %s.\n", time.Since(started).Seconds(), *dir)
}

func run(ctx context.Context, dir string, length time.Duration) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	s := &stage{dir: dir, bin: os.Getenv("S3WINDOW_BIN")}
	if s.bin == "" {
		s.bin = filepath.Join(".build", "bin")
	}
	defer s.end()
	for _, step := range []func(context.Context) error{
		s.startServer,
		s.startCollector,
		func(ctx context.Context) error { return s.sendAndKill(ctx, length) },
		s.awaitCommitted,
		s.stopCollector,
		s.showObjects,
		s.showManifest,
		s.query,
		s.verify,
		s.judge,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}
