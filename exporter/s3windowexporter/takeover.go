package s3windowexporter

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/request"
	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// takeOver moves what exporterhelper's persistent queues of this exporter ID,
// one for each signal, left in the same storage into the queue. It is done
// before anything else is read, once; afterwards it finds nothing.
func (c *core) takeOver(ctx context.Context, host component.Host, queue *wal.WAL) error {
	if c.cfg.QueueConfig.Get().StorageID == nil {
		return nil
	}
	rules := c.cfg.Tenant.rules()
	rules.MaxTenants = 0 // they were acknowledged already
	splitter := partition.NewSplitter(rules)
	for _, signal := range c.signals {
		if err := c.takeOverSignal(ctx, host, queue, splitter, signal); err != nil {
			return err
		}
	}
	return nil
}

func (c *core) takeOverSignal(ctx context.Context, host component.Host, queue *wal.WAL, splitter *partition.Splitter, signal partition.Signal) (err error) {
	name := string(signal) // as exporterhelper names the client of its queue
	stock, err := storageClient(ctx, host, *c.cfg.QueueConfig.Get().StorageID, c.set.ID, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stock.Close(ctx)) }()
	done, err := queue.TakeOver(ctx, name, stock, func(value []byte) ([]wal.Record, error) {
		return stockRecords(ctx, splitter, signal, value)
	})
	if done != (wal.TakenOver{}) {
		c.set.Logger.Info("What the exporterhelper queue left was taken over", zap.String("signal", name), zap.Int("requests", done.Requests),
			zap.Int("records", done.Items), zap.Int("set_aside", done.SetAside), zap.Int("missing", done.Forgotten))
	}
	return err
}

// stockRecords reads a value of exporterhelper's persistent queue.
func stockRecords(ctx context.Context, s *partition.Splitter, signal partition.Signal, value []byte) (out []wal.Record, err error) {
	var parts []partition.Part
	switch signal {
	case partition.Traces:
		parts, err = stockParts(ctx, value, request.UnmarshalTraces, (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces, s.Traces)
	case partition.Metrics:
		parts, err = stockParts(ctx, value, request.UnmarshalMetrics, (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics, s.Metrics)
	default:
		parts, err = stockParts(ctx, value, request.UnmarshalLogs, (&plog.ProtoUnmarshaler{}).UnmarshalLogs, s.Logs)
	}
	return records(signal, parts), err
}

func stockParts[R any](ctx context.Context, value []byte, decode func([]byte) (context.Context, R, error), decodeBare func([]byte) (R, error),
	split func(context.Context, R) ([]partition.Part, error),
) ([]partition.Part, error) {
	reqCtx, r, err := decode(value)
	if errors.Is(err, request.ErrInvalidFormat) { // written without the request's context
		reqCtx = ctx
		r, err = decodeBare(value)
	}
	if err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	return split(reqCtx, r)
}
