package s3windowexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadata"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window"
	"github.com/s3window/s3window/internal/window/sealed"
)

// Steps beside those of windows that are tried again.
const (
	probeStep  sealed.Step = "probe"  // of a bucket, at the start
	layoutStep sealed.Step = "layout" // of a lake is looked at
	leaseStep  sealed.Step = "lease"  // is read or written in a bucket
	appendStep sealed.Step = "append" // to the queue
)

// observer turns what the packages below tell into metrics and status. It is
// safe for concurrent use.
type observer struct {
	builder   *metadata.TelemetryBuilder
	exporter  attribute.KeyValue // stands with every value: a collector may have several
	status    *status
	perTenant bool
}

var _ window.Observer = (*observer)(nil)

func newObserver(set component.TelemetrySettings, id component.ID, perTenant bool, s *status) (*observer, error) {
	builder, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return nil, err
	}
	return &observer{builder: builder, exporter: attribute.String("exporter", id.String()), status: s, perTenant: perTenant}, nil
}

// with returns the attributes of a value that is nobody's.
func (o *observer) with(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(more, o.exporter)...))
}

// of returns the attributes of a value that is a partition's.
func (o *observer) of(tenant string, signal partition.Signal, more ...attribute.KeyValue) metric.MeasurementOption {
	if o.perTenant {
		more = append(more, attribute.String("tenant", tenant))
	}
	return o.with(append(more, ofSignal(signal))...)
}

func ofSignal(s partition.Signal) attribute.KeyValue { return attribute.String("signal", string(s)) }

// Committed implements window.Observer.
func (o *observer) Committed(c window.Committed) {
	ctx, b := context.Background(), o.builder
	of := o.of(c.Tenant, c.Signal)
	b.ExporterS3windowWindows.Add(ctx, 1, o.of(c.Tenant, c.Signal, attribute.String("reason", string(c.Reason))))
	b.ExporterS3windowCommittedRecords.Add(ctx, c.Records, of)
	b.ExporterS3windowObjects.Add(ctx, int64(c.Objects), of)
	b.ExporterS3windowObjectBytes.Add(ctx, c.Bytes, of)
	b.ExporterS3windowRawBytes.Add(ctx, c.RawBytes, of)
	b.ExporterS3windowReplacedStrings.Add(ctx, c.Replaced, of)
	for cause, n := range map[string]int64{"skew": c.Skewed, "prefixes": c.Refiled, "small": c.Small} {
		if n > 0 {
			b.ExporterS3windowRefiledRecords.Add(ctx, n, o.of(c.Tenant, c.Signal, attribute.String("cause", cause)))
		}
	}
	b.ExporterS3windowFlushDuration.Record(ctx, c.Flush.Seconds(), of)
	b.ExporterS3windowCommitDuration.Record(ctx, c.Commit.Seconds(), of)
}

// Retried implements window.Observer. Steps of no partition are of no signal and
// tenant.
func (o *observer) Retried(step sealed.Step, tenant string, signal partition.Signal) {
	operation := attribute.String("operation", string(step))
	with := o.with(operation)
	if signal != "" {
		with = o.of(tenant, signal, operation)
	}
	o.builder.ExporterS3windowRetries.Add(context.Background(), 1, with)
}

// Fenced implements window.Observer.
func (o *observer) Fenced(tenant string, signal partition.Signal) {
	o.builder.ExporterS3windowFenced.Add(context.Background(), 1, o.of(tenant, signal))
}

// Lost implements window.Observer.
func (o *observer) Lost(entries int, records int64, tenant string, signal partition.Signal) {
	of := o.of(tenant, signal)
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
			o.of(p.Tenant, signal, attribute.String("outcome", outcome)))
	}
}

// refused counts records of requests that are refused whole. The tenants that
// clients name there are not told: their number has no bound.
func (o *observer) refused(signal partition.Signal, cause partition.Cause, n int) {
	o.builder.ExporterS3windowRefusedRecords.Add(context.Background(), int64(n), o.with(attribute.String("reason", string(cause)), ofSignal(signal)))
}

// defaulted counts records for which no rule gave a tenant.
func (o *observer) defaulted(signal partition.Signal, n int) {
	o.builder.ExporterS3windowDefaultedRecords.Add(context.Background(), int64(n), o.with(ofSignal(signal)))
}

// begin has the counters of signals be there from the start, so that their
// first increase is seen. With the tenant as an attribute those of tenants begin
// with the tenant.
func (o *observer) begin(signals []partition.Signal) {
	ctx, b := context.Background(), o.builder
	for _, step := range []sealed.Step{sealed.ReadQueue, sealed.Trim, sealed.DeleteSeal, probeStep, layoutStep, leaseStep, appendStep} {
		b.ExporterS3windowRetries.Add(ctx, 0, o.with(attribute.String("operation", string(step))))
	}
	for _, s := range signals {
		zero := func(c metric.Int64Counter, more ...attribute.KeyValue) {
			c.Add(ctx, 0, o.with(append(more, ofSignal(s))...))
		}
		zero(b.ExporterS3windowDefaultedRecords)
		for _, cause := range []partition.Cause{partition.Missing, partition.Unknown, partition.MaxTenants, partition.NewTenants, tooLargeCause} {
			zero(b.ExporterS3windowRefusedRecords, attribute.String("reason", string(cause)))
		}
		if !o.perTenant {
			o.beginOfTenants(zero)
		}
	}
}

// beginOfTenants has zero do its work on every counter that may have a tenant.
func (o *observer) beginOfTenants(zero func(c metric.Int64Counter, more ...attribute.KeyValue)) {
	b := o.builder
	for _, c := range []metric.Int64Counter{
		b.ExporterS3windowCommittedRecords, b.ExporterS3windowObjects, b.ExporterS3windowObjectBytes, b.ExporterS3windowRawBytes,
		b.ExporterS3windowReplacedStrings, b.ExporterS3windowFenced, b.ExporterS3windowQuarantinedEntries, b.ExporterS3windowLostRecords,
	} {
		zero(c)
	}
	for _, reason := range []flush.Reason{flush.Size, flush.Age, flush.Boundary, flush.Rotation, flush.Memory, flush.Shutdown} {
		zero(b.ExporterS3windowWindows, attribute.String("reason", string(reason)))
	}
	for _, cause := range []string{"skew", "prefixes", "small"} {
		zero(b.ExporterS3windowRefiledRecords, attribute.String("cause", cause))
	}
	for _, step := range []sealed.Step{sealed.OpenLake, sealed.ReadHead, sealed.PutSeal, sealed.Encode, sealed.Upload, sealed.Commit} {
		zero(b.ExporterS3windowRetries, attribute.String("operation", string(step)))
	}
	for _, outcome := range []string{"refused", "discarded"} {
		zero(b.ExporterS3windowDisabledRecords, attribute.String("outcome", outcome))
	}
}

// watch registers what is asked when metrics are collected.
func (c *core) watch() error {
	b, with := c.observer.builder, c.observer.with()
	if err := b.RegisterExporterS3windowLagCallback(func(_ context.Context, o metric.Float64Observer) error {
		o.Observe(c.lag().Seconds(), with)
		return nil
	}); err != nil {
		return err
	}
	if err := b.RegisterExporterS3windowClockAheadCallback(func(_ context.Context, o metric.Float64Observer) error {
		o.Observe(c.queue.Ahead().Seconds(), with)
		return nil
	}); err != nil {
		return err
	}
	for _, register := range []struct {
		with  func(metric.Int64Callback) error
		value func() int64
	}{
		{b.RegisterExporterS3windowBucketReadyCallback, func() int64 {
			if c.lakes.ready() {
				return 1
			}
			return 0
		}},
		{b.RegisterExporterQueueSizeCallback, func() int64 { return c.queue.Stats().Used }},
		{b.RegisterExporterQueueCapacityCallback, func() int64 { return c.queue.Stats().Limit }},
		{b.RegisterExporterS3windowMemoryHeldCallback, func() int64 { return c.runtime.Stats().Held }},
		{b.RegisterExporterS3windowMemoryLimitCallback, func() int64 { return c.runtime.Stats().Limit }},
		{b.RegisterExporterS3windowWalBytesCallback, func() int64 { return c.queue.Stats().Bytes }},
		{b.RegisterExporterS3windowWalEntriesCallback, func() int64 { return c.queue.Stats().Entries }},
	} {
		if err := register.with(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(register.value(), with)
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
