package s3windowexporter

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

var errNotStarted = errors.New("exporter is not started")

// consumeTraces, consumeMetrics and consumeLogs put a request into the queue,
// whole or not at all, and return when it is durable there. See accept for
// their errors.
func (c *core) consumeTraces(ctx context.Context, td ptrace.Traces) error {
	parts, err := c.splitter.Traces(ctx, td)
	return c.acceptSplit(ctx, partition.Traces, parts, err)
}

func (c *core) consumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	parts, err := c.splitter.Metrics(ctx, md)
	return c.acceptSplit(ctx, partition.Metrics, parts, err)
}

func (c *core) consumeLogs(ctx context.Context, ld plog.Logs) error {
	parts, err := c.splitter.Logs(ctx, ld)
	return c.acceptSplit(ctx, partition.Logs, parts, err)
}

// acceptSplit is accept for what splitting a request gave.
func (c *core) acceptSplit(ctx context.Context, signal partition.Signal, parts []partition.Part, err error) error {
	if err != nil {
		return consumererror.NewPermanent(fmt.Errorf("accept request: %w", err))
	}
	return c.accept(ctx, signal, parts)
}

// accept appends the parts of a request. What will be refused again is a
// permanent error. A full queue and a failing storage are not: as with the
// queue of exporterhelper a plain error says so, which receivers answer with
// Unavailable or 503, and clients send again.
func (c *core) accept(ctx context.Context, signal partition.Signal, parts []partition.Part) error {
	if c.queue == nil {
		return errNotStarted
	}
	parts, left, err := c.admit(parts)
	if err != nil {
		c.observer.disabled(signal, left, "refused")
		return consumererror.NewPermanent(fmt.Errorf("accept request: %w", err))
	}
	for _, p := range parts {
		if int64(len(p.Payload)) > c.maxEntry {
			return consumererror.NewPermanent(fmt.Errorf("accept request: %d bytes of tenant %q are more than `memory_limit_mib` (%d) lets be encoded at once (%d bytes): send smaller requests",
				len(p.Payload), p.Tenant, c.cfg.MemoryLimitMiB, c.maxEntry))
		}
	}
	if len(parts) > 0 {
		err = c.queue.Append(ctx, records(signal, parts)...)
		c.noteAppend(ctx, err)
	}
	switch {
	case err == nil:
		c.observer.disabled(signal, left, "discarded")
		return nil
	case errors.Is(err, wal.ErrTooLarge), errors.Is(err, wal.ErrInvalid):
		return consumererror.NewPermanent(fmt.Errorf("accept request: %w", err))
	default:
		return fmt.Errorf("accept request: %w", err)
	}
}

// admit takes the parts of tenants that are disabled out of a request, and
// gives them by themselves. With an error they are why all of it is refused.
func (c *core) admit(parts []partition.Part) (in, out []partition.Part, err error) {
	if !c.tenants.disabled {
		return parts, nil, nil
	}
	for _, p := range parts {
		t := c.tenants.of(p.Tenant)
		if t.Enabled {
			in = append(in, p)
			continue
		}
		out = append(out, p)
		if t.OnDisabled == onDisabledRefuse && err == nil {
			err = fmt.Errorf("tenant %q is disabled by `%s::enabled` (false): with `on_disabled: discard` its records are dropped instead", p.Tenant, tenantKey(p.Tenant))
		}
	}
	return in, out, err
}

func records(signal partition.Signal, parts []partition.Part) []wal.Record {
	out := make([]wal.Record, len(parts))
	for i, p := range parts {
		out[i] = wal.Record{Tenant: p.Tenant, Signal: string(signal), Items: p.Items, Payload: p.Payload}
	}
	return out
}

// noteAppend reports a storage that fails and one that is back. A full queue
// is no failure of the storage: what keeps it full is reported where it is.
func (c *core) noteAppend(ctx context.Context, err error) {
	switch {
	case err == nil:
		if c.appendFails.CompareAndSwap(true, false) {
			c.status.set(appends, nil)
		}
	case ctx.Err() != nil, errors.Is(err, wal.ErrClosed), errors.Is(err, wal.ErrTooLarge), errors.Is(err, wal.ErrInvalid),
		errors.Is(err, wal.ErrFull) && !errors.Is(err, storage.ErrStorageFull):
	default:
		if c.appendFails.CompareAndSwap(false, true) {
			c.status.set(appends, fmt.Errorf("write to the queue's storage: %w", err))
		}
	}
}
