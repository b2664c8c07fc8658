package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// floor is the exporter that drops everything.
const floor = "debug"

// result is what one run cost.
type result struct {
	cpu     float64 // seconds of the collector per million records
	rss     float64 // its peak, MB
	rate    float64 // records per second, until the last one is in the bucket
	bytes   float64 // in the bucket, per record
	objects float64
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "costbench:", err)
		os.Exit(1)
	}
}

func run() error {
	var b bench
	rounds := flag.Int("rounds", 3, "runs of each side, in turns")
	flag.IntVar(&b.records, "records", 300_000, "log records of a run")
	flag.IntVar(&b.tenants, "tenants", 20, "tenants they are of")
	flag.IntVar(&b.senders, "senders", 4, "requests in flight")
	flag.BoolVar(&b.fsync, "fsync", false, "fsync of the queue's storage")
	flag.StringVar(&b.collector, "collector", ".build/otelcol-s3window", "the collector")
	flag.StringVar(&b.server, "server", ".build/bin/versitygw", "the S3 server")
	flag.StringVar(&b.config, "config", "testbed/bench/costbench/collector.yaml", "of the collector")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.prepare(); err != nil {
		return err
	}
	sides := []string{floor, "s3window"}
	all := map[string][]result{}
	for n := range *rounds {
		for _, side := range sides {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", n+1, *rounds, side)
			r, err := b.measure(ctx, side)
			if err != nil {
				return fmt.Errorf("%s: %w", side, err)
			}
			all[side] = append(all[side], r)
		}
	}
	show(b, sides, all)
	return nil
}

// show prints the medians.
func show(b bench, sides []string, all map[string][]result) {
	fmt.Printf("%d log records of %d B in %d requests, %d tenants, %d senders, fsync %v; medians of %d runs in turns\n\n",
		b.records, b.size/b.records, len(b.requests), b.tenants, b.senders, b.fsync, len(all[floor]))
	fmt.Println("| exporter | CPU s per million records | peak RSS MB | records/s to the bucket | bytes/record in the bucket | objects |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, side := range sides {
		of := func(f func(result) float64) float64 { return median(all[side], f) }
		fmt.Printf("| %s | %.1f | %.0f | %.0f | %.1f | %.0f |\n", side, of(cpuOf), of(func(r result) float64 { return r.rss }),
			of(func(r result) float64 { return r.rate }), of(bytesOf), of(func(r result) float64 { return r.objects }))
	}
}

func cpuOf(r result) float64   { return r.cpu }
func bytesOf(r result) float64 { return r.bytes }

func median(rs []result, f func(result) float64) float64 {
	v := make([]float64, 0, len(rs))
	for _, r := range rs {
		v = append(v, f(r))
	}
	slices.SortFunc(v, cmp.Compare[float64])
	return v[len(v)/2]
}

// measure runs one side once, in a directory of its own.
func (b *bench) measure(ctx context.Context, side string) (r result, err error) {
	dir, err := os.MkdirTemp("", "costbench")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := b.stage(ctx, dir, side)
	if err != nil {
		return r, err
	}
	defer s.end()
	before, err := usageOf(s.collector.PID())
	if err != nil {
		return r, err
	}
	begin := time.Now()
	if err := b.send(ctx, s.endpoint); err != nil {
		return r, err
	}
	var all found
	if side != floor {
		if all, err = s.await(ctx, b.records); err != nil {
			return r, err
		}
	}
	after, err := usageOf(s.collector.PID())
	if err != nil {
		return r, err
	}
	million := float64(b.records) / 1e6
	return result{
		cpu: (after.cpu - before.cpu).Seconds() / million, rss: float64(after.peak) / 1e6,
		rate:  float64(b.records) / time.Since(begin).Seconds(),
		bytes: float64(all.bytes) / float64(b.records), objects: float64(all.objects),
	}, nil
}

func bucketDir(dir string) string { return filepath.Join(dir, "buckets", bucketName) }
