package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
)

// load is one case: senders that each wait for their request to be acknowledged.
type load struct {
	dir     string
	fsync   bool
	senders int
	tenants int
	size    int // bytes of one request
	span    time.Duration
}

type result struct {
	rate    float64 // acknowledged requests per second
	cpu     float64 // microseconds of CPU per request
	written float64 // bytes written per acknowledged byte
}

// side is one of the two queues: send returns when the request is acknowledged.
type side struct {
	send  func(ctx context.Context, sender int, ld plog.Logs) error
	close func(ctx context.Context) error
}

func (l load) measure(ctx context.Context, start func(context.Context, load, string) (side, error)) (result, error) {
	dir, err := os.MkdirTemp(l.dir, "walbench")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := start(ctx, l, dir)
	if err != nil {
		return result{}, err
	}
	ld, size := logs(l.size)
	if err := l.drive(ctx, s, ld, l.span/4, nil); err != nil { // warm up
		return result{}, err
	}
	var acked atomic.Int64
	cpu, written, begin := cpuTime(), wchar(), time.Now()
	if err := l.drive(ctx, s, ld, l.span, &acked); err != nil {
		return result{}, err
	}
	n, took := float64(acked.Load()), time.Since(begin).Seconds()
	r := result{
		rate:    n / took,
		cpu:     float64((cpuTime() - cpu).Microseconds()) / n,
		written: float64(wchar()-written) / (n * float64(size)),
	}
	return r, s.close(ctx)
}

// drive lets all senders work for a while.
func (l load) drive(ctx context.Context, s side, ld plog.Logs, span time.Duration, acked *atomic.Int64) error {
	ctx, cancel := context.WithTimeout(ctx, 10*span+time.Minute)
	defer cancel()
	end := time.Now().Add(span)
	errs := make([]error, l.senders)
	var wg sync.WaitGroup
	for g := range l.senders {
		wg.Go(func() {
			for errs[g] == nil && time.Now().Before(end) {
				if errs[g] = s.send(ctx, g, ld); errs[g] == nil && acked != nil {
					acked.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// logs makes a request of about size bytes, and gives its exact size.
func logs(size int) (plog.Logs, int) {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "checkout")
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	m := plog.ProtoMarshaler{}
	for i := 0; m.LogsSize(ld) < size-100; i++ {
		r := records.AppendEmpty()
		r.SetTimestamp(1_700_000_000_000_000_000)
		r.Attributes().PutStr("http.route", "/api/orders/"+strconv.Itoa(i))
		r.Body().SetStr(strings.Repeat("order placed ", 10) + strconv.Itoa(i))
	}
	ld.MarkReadOnly()
	return ld, m.LogsSize(ld)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// wchar is what this process passed to write(2) and its kin.
func wchar() int64 {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		var n int64
		if _, err := fmt.Sscanf(string(line), "wchar: %d", &n); err == nil {
			return n
		}
	}
	return 0
}

func tempDir(parent string) (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(parent, "walbench")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
