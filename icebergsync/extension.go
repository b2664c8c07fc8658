package icebergsync

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.uber.org/zap"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/icebergsync/internal/metadata"
	"github.com/s3window/s3window/icebergsync/internal/run"
)

// icebergExtension is the component: one goroutine from Start to Shutdown.
type icebergExtension struct {
	config    *run.Config
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder

	stop    context.CancelFunc
	working sync.WaitGroup
}

var _ extension.Extension = (*icebergExtension)(nil)

// Start begins the work. A lake or catalog that does not answer does not stop it:
// that shows as a recoverable status.
func (e *icebergExtension) Start(_ context.Context, host component.Host) error {
	leases, err := e.leases(host)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	report := newReporter(e, host)
	runner, err := run.New(ctx, e.config, report.observer())
	if err != nil {
		stop()
		return fmt.Errorf("open the lake: %w", err)
	}
	e.stop = stop
	e.working.Go(func() {
		defer runner.Close()
		(&worker{runner: runner, leases: leases, config: e.config, logger: e.logger, report: report}).run(ctx)
	})
	return nil
}

// Shutdown ends the work where it is. A commit that was sent may still be made:
// the next start finds it.
func (e *icebergExtension) Shutdown(ctx context.Context) error {
	defer e.telemetry.Shutdown()
	if e.stop == nil {
		return nil
	}
	e.stop()
	done := make(chan struct{})
	go func() { e.working.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the last commit: %w", context.Cause(ctx))
	}
}

func (e *icebergExtension) leases(host component.Host) (lease.Leases, error) {
	if e.config.Lease == nil {
		return nil, nil
	}
	found, ok := host.GetExtensions()[*e.config.Lease]
	if !ok {
		return nil, fmt.Errorf("find lease extension %q: it is not among `service::extensions`", e.config.Lease)
	}
	leases, ok := found.(lease.Leases)
	if !ok {
		return nil, fmt.Errorf("find lease extension %q: that extension gives no leases", e.config.Lease)
	}
	return leases, nil
}

// worker is the extension's goroutine.
type worker struct {
	runner *run.Runner
	leases lease.Leases // nil: work without
	config *run.Config
	logger *zap.Logger
	report *reporter
}

// run works until ctx ends. With a lease it works only while it has it.
func (w *worker) run(ctx context.Context) {
	if w.leases == nil {
		w.passes(ctx)
		return
	}
	for ctx.Err() == nil {
		held, err := w.leases.Acquire(ctx, w.config.LeaseName())
		if err != nil {
			w.report.passed(nil, fmt.Errorf("acquire the lease: %w", err))
			wait(ctx, w.config.Interval)
			continue
		}
		working, end := context.WithCancel(ctx)
		stopped := context.AfterFunc(held.Context(), end)
		w.passes(working)
		stopped()
		end()
		w.release(ctx, held)
	}
}

// release gives the lease up, so that another one need not wait for its end.
func (w *worker) release(ctx context.Context, held lease.Lease) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer end()
	if err := held.Release(ctx, nil); err != nil {
		w.logger.Debug("Lease was not released", zap.Error(err))
	}
}

// passes makes one pass after the other until ctx ends.
func (w *worker) passes(ctx context.Context) {
	for ctx.Err() == nil {
		results, err := w.runner.Pass(ctx, false)
		if ctx.Err() != nil {
			return
		}
		w.report.passed(results, err)
		wait(ctx, w.config.Interval)
	}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
