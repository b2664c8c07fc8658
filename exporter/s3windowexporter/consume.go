package s3windowexporter

import (
	"context"
	"errors"
	"fmt"

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
	parts, err := c.door.splitter.Traces(ctx, td)
	return c.accept(ctx, request{partition.Traces, td.SpanCount()}, parts, err)
}

func (c *core) consumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	parts, err := c.door.splitter.Metrics(ctx, md)
	return c.accept(ctx, request{partition.Metrics, md.DataPointCount()}, parts, err)
}

func (c *core) consumeLogs(ctx context.Context, ld plog.Logs) error {
	parts, err := c.door.splitter.Logs(ctx, ld)
	return c.accept(ctx, request{partition.Logs, ld.LogRecordCount()}, parts, err)
}

// accept appends the parts of a request, as the splitter gave them with err.
// What will be refused again is a permanent error. A full queue and a failing
// storage are not: as with the queue of exporterhelper a plain error says so,
// which receivers answer with Unavailable or 503, and clients send again.
func (c *core) accept(ctx context.Context, req request, parts []partition.Part, err error) error {
	if c.queue == nil {
		return errNotStarted
	}
	a, err := c.door.admit(ctx, req, parts, err)
	if err != nil {
		return err
	}
	if err := c.append(ctx, req, a.parts); err != nil {
		if a.undo != nil && !errors.Is(err, wal.ErrUnknown) {
			a.undo()
		}
		return err
	}
	c.door.accepted(ctx, req, a)
	return nil
}

// append puts parts into the queue. One of them may be encoded in one piece, and
// all are read in one.
func (c *core) append(ctx context.Context, req request, parts []partition.Part) error {
	if len(parts) == 0 {
		return nil
	}
	var size int64
	for i := range parts {
		size += int64(len(parts[i].Payload))
	}
	if size > c.door.maxRequest() {
		return c.door.refuseLarge(req, size, nil)
	}
	err := c.queue.Append(ctx, records(req.signal, parts)...)
	c.noteAppend(ctx, err)
	if errors.Is(err, wal.ErrTooLarge) || errors.Is(err, wal.ErrInvalid) {
		return c.door.refuseLarge(req, size, err)
	}
	if err != nil {
		return fmt.Errorf("accept request: %w", err)
	}
	return nil
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
		c.observer.Retried(appendStep, "", "")
		if c.appendFails.CompareAndSwap(false, true) {
			c.status.set(appends, fmt.Errorf("write to the queue's storage: %w", err))
		}
	}
}
