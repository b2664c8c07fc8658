package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/testbed/e2e/process"
)

const (
	bucketName = "lake"
	accessKey  = "bench"
	secretKey  = "bench-secret"
)

// bench is what all runs have in common.
type bench struct {
	records, tenants, senders int
	fsync                     bool
	collector, server, config string
	requests                  []plogotlp.ExportRequest
	size                      int // of all requests, bytes
}

// prepare makes the requests: those of the encoder's benchmarks, each resource
// with a tenant.
func (b *bench) prepare() error {
	n := 0
	for _, payload := range encodetest.Logs(42, b.records) {
		ld, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(payload)
		if err != nil {
			return err
		}
		for _, rl := range ld.ResourceLogs().All() {
			rl.Resource().Attributes().PutStr("tenant.id", fmt.Sprintf("tenant-%02d", n%b.tenants))
			n++
		}
		b.size += (&plog.ProtoMarshaler{}).LogsSize(ld)
		b.requests = append(b.requests, plogotlp.NewExportRequestFromLogs(ld))
	}
	return nil
}

// stage is the processes of a run.
type stage struct {
	dir               string
	endpoint          string
	server, collector *process.Process
}

func (s *stage) end() {
	for _, p := range []*process.Process{s.collector, s.server} {
		if p != nil {
			p.Kill()
		}
	}
}

func (b *bench) stage(ctx context.Context, dir, side string) (s *stage, err error) {
	s = &stage{dir: dir}
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	if err := os.MkdirAll(bucketDir(dir), 0o755); err != nil {
		return nil, err
	}
	store, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	s.server, err = process.Start(ctx, process.Options{
		Path: b.server, Args: []string{"-p", store, "-a", accessKey, "-s", secretKey, "--keep-alive", "-q", "posix", filepath.Join(dir, "buckets")},
		Log: filepath.Join(dir, "server.log"), Ready: store,
	})
	if err != nil {
		return nil, err
	}
	if s.endpoint, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	s.collector, err = process.Start(ctx, process.Options{
		Path: b.collector, Args: []string{"--config", b.config},
		Env: []string{
			"EXPORTER=" + side, "WAL_DIR=" + filepath.Join(dir, "wal"), "FSYNC=" + strconv.FormatBool(b.fsync), "OTLP_ENDPOINT=" + s.endpoint,
			"S3_BUCKET=" + bucketName, "S3_ENDPOINT=http://" + store, "AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey,
		},
		Log: filepath.Join(dir, "collector.log"), Ready: s.endpoint,
	})
	return s, err
}

// send sends all requests, each until it is acknowledged.
func (b *bench) send(ctx context.Context, endpoint string) error {
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	client := plogotlp.NewGRPCClient(conn)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.senders)
	for _, r := range b.requests {
		group.Go(func() error {
			for {
				_, err := client.Export(ctx, r)
				if err == nil || ctx.Err() != nil {
					return ctx.Err()
				}
				select {
				case <-ctx.Done():
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
	return group.Wait()
}

// usage is what a process has used so far.
type usage struct {
	cpu  time.Duration
	peak int64 // resident memory, bytes
}

// tick is the unit of CPU times in /proc: Linux has 100 a second for programs.
const tick = 10 * time.Millisecond

func usageOf(pid int) (u usage, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(n) * tick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return u, err
			}
			u.peak = n << 10
		}
	}
	return u, nil
}
