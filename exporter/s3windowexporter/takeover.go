package s3windowexporter

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/xpdata/request"
	"go.opentelemetry.io/collector/pipeline"
	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// takeOver moves what exporterhelper's persistent queue of this exporter ID
// left in the same storage into the queue. It is done before anything else is
// read, once; afterwards it finds nothing.
func (c *core) takeOver(ctx context.Context, host component.Host, queue *wal.WAL) (err error) {
	id := c.cfg.QueueConfig.Get().StorageID
	if id == nil {
		return nil
	}
	signal := pipeline.SignalLogs.String()
	stock, err := storageClient(ctx, host, *id, c.set.ID, signal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stock.Close(ctx)) }()
	rules := c.cfg.Tenant.rules()
	rules.MaxTenants = 0 // they were acknowledged already
	splitter := partition.NewSplitter(rules)
	done, err := queue.TakeOver(ctx, signal, stock, func(value []byte) ([]wal.Record, error) {
		return stockLogs(ctx, splitter, value)
	})
	if done != (wal.TakenOver{}) {
		c.set.Logger.Info("What the exporterhelper queue left was taken over", zap.Int("requests", done.Requests), zap.Int("records", done.Items),
			zap.Int("set_aside", done.SetAside), zap.Int("missing", done.Forgotten))
	}
	return err
}

// stockLogs reads a value of exporterhelper's persistent queue.
func stockLogs(ctx context.Context, splitter *partition.Splitter, value []byte) ([]wal.Record, error) {
	reqCtx, ld, err := request.UnmarshalLogs(value)
	if errors.Is(err, request.ErrInvalidFormat) { // written without the request's context
		reqCtx = ctx
		ld, err = (&plog.ProtoUnmarshaler{}).UnmarshalLogs(value)
	}
	if err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	parts, err := splitter.Logs(reqCtx, ld)
	if err != nil {
		return nil, err
	}
	return records(partition.Logs, parts), nil
}
