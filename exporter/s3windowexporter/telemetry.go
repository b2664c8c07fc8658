package s3windowexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadata"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window"
	"github.com/s3window/s3window/internal/window/sealed"
)

// observer turns what the packages below tell into metrics and status. It is
// safe for concurrent use.
type observer struct {
	builder   *metadata.TelemetryBuilder
	status    *status
	perTenant bool
}

var _ window.Observer = (*observer)(nil)

func (o *observer) attributes(tenant string, signal partition.Signal, more ...attribute.KeyValue) metric.MeasurementOption {
	more = append(more, attribute.String("signal", string(signal)))
	if o.perTenant {
		more = append(more, attribute.String("tenant", tenant))
	}
	return metric.WithAttributeSet(attribute.NewSet(more...))
}

// Committed implements window.Observer.
func (o *observer) Committed(c window.Committed) {
	ctx, b := context.Background(), o.builder
	of := o.attributes(c.Tenant, c.Signal)
	b.ExporterS3windowWindows.Add(ctx, 1, o.attributes(c.Tenant, c.Signal, attribute.String("reason", string(c.Reason))))
	b.ExporterS3windowRecords.Add(ctx, c.Records, of)
	b.ExporterS3windowObjects.Add(ctx, int64(c.Objects), of)
	b.ExporterS3windowObjectBytes.Add(ctx, c.Bytes, of)
	b.ExporterS3windowRawBytes.Add(ctx, c.RawBytes, of)
	b.ExporterS3windowReplacedStrings.Add(ctx, c.Replaced, of)
	for cause, n := range map[string]int64{"skew": c.Skewed, "prefixes": c.Refiled} {
		if n > 0 {
			b.ExporterS3windowRefiledRecords.Add(ctx, n, o.attributes(c.Tenant, c.Signal, attribute.String("cause", cause)))
		}
	}
	b.ExporterS3windowFlushDuration.Record(ctx, c.Flush.Seconds(), of)
	b.ExporterS3windowCommitDuration.Record(ctx, c.Commit.Seconds(), of)
}

// Retried implements window.Observer.
func (o *observer) Retried(step sealed.Step, tenant string, signal partition.Signal) {
	o.builder.ExporterS3windowRetries.Add(context.Background(), 1, o.attributes(tenant, signal, attribute.String("operation", string(step))))
}

// Fenced implements window.Observer.
func (o *observer) Fenced(tenant string, signal partition.Signal) {
	o.builder.ExporterS3windowFenced.Add(context.Background(), 1, o.attributes(tenant, signal))
}

// Lost implements window.Observer.
func (o *observer) Lost(entries int, records int64, tenant string, signal partition.Signal) {
	of := o.attributes(tenant, signal)
	o.builder.ExporterS3windowQuarantinedEntries.Add(context.Background(), int64(entries), of)
	o.builder.ExporterS3windowLostRecords.Add(context.Background(), records, of)
}

// Health implements window.Observer.
func (o *observer) Health(err error) { o.status.set(flushes, err) }

// damaged counts what the queue found damaged. Its log has the rest.
func (o *observer) damaged(d wal.Damage) {
	if d.Kind == "entry" {
		o.Lost(1, int64(d.Items), d.Tenant, partition.Signal(d.Signal))
	}
}

// disabled counts records of tenants that are disabled.
func (o *observer) disabled(signal partition.Signal, parts []partition.Part, outcome string) {
	for _, p := range parts {
		o.builder.ExporterS3windowDisabledRecords.Add(context.Background(), int64(p.Items),
			o.attributes(p.Tenant, signal, attribute.String("outcome", outcome)))
	}
}

// refused counts records of requests that are refused whole.
func (o *observer) refused(signal partition.Signal, cause partition.Cause, n int) {
	o.builder.ExporterS3windowRefusedRecords.Add(context.Background(), int64(n), metric.WithAttributes(
		attribute.String("reason", string(cause)), attribute.String("signal", string(signal))))
}

// defaulted counts records for which no rule gave a tenant.
func (o *observer) defaulted(signal partition.Signal, n int) {
	o.builder.ExporterS3windowDefaultedRecords.Add(context.Background(), int64(n), metric.WithAttributes(attribute.String("signal", string(signal))))
}

// watch registers what is asked when metrics are collected.
func (c *core) watch() error {
	b := c.observer.builder
	if err := b.RegisterExporterS3windowLagCallback(func(_ context.Context, o metric.Float64Observer) error {
		o.Observe(c.lag().Seconds())
		return nil
	}); err != nil {
		return err
	}
	for _, register := range []struct {
		with  func(metric.Int64Callback) error
		value func() int64
	}{
		{b.RegisterExporterS3windowMemoryHeldCallback, func() int64 { return c.runtime.Stats().Held }},
		{b.RegisterExporterS3windowMemoryLimitCallback, func() int64 { return c.runtime.Stats().Limit }},
		{b.RegisterExporterS3windowWalBytesCallback, func() int64 { return c.queue.Stats().Bytes }},
		{b.RegisterExporterS3windowWalEntriesCallback, func() int64 { return c.queue.Stats().Entries }},
	} {
		if err := register.with(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(register.value())
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// lag is the age of the oldest record that is not committed. While windows are
// not begun, because the bucket does not answer, the queue alone knows.
func (c *core) lag() time.Duration {
	if c.begun.Load() {
		return c.runtime.Stats().Lag
	}
	if q := c.queue.Stats(); q.Entries > 0 {
		return max(0, time.Since(time.UnixMicro(q.OldestStamp)))
	}
	return 0
}
