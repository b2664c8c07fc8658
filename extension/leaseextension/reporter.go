package leaseextension

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/s3window/s3window/extension/leaseextension/internal/metadata"
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// reporter turns what a participant sees into metrics, the component's status
// and two log lines per outage.
type reporter struct {
	telemetry *metadata.TelemetryBuilder
	logger    *zap.Logger
	host      component.Host
	backend   string
	health    *lease.Health
}

func newReporter(e *leaseExtension, host component.Host) *reporter {
	r := &reporter{telemetry: e.telemetry, logger: e.logger, host: host, backend: e.plan.backend}
	r.health = lease.NewHealth(r.changed)
	return r
}

func (r *reporter) observer() lease.Observer {
	return lease.Observer{Acquired: r.acquired, Lost: r.lost, Request: r.request}
}

func (r *reporter) acquired(waited time.Duration, takeover bool) {
	r.telemetry.LeaseWaitDuration.Record(context.Background(), waited.Seconds(),
		metric.WithAttributes(attribute.Bool("takeover", takeover)))
}

func (r *reporter) lost(cause error) {
	name := "fenced"
	if errors.Is(cause, lease.ErrExpired) {
		name = "expired"
	}
	r.telemetry.LeaseLost.Add(context.Background(), 1, metric.WithAttributes(attribute.String("cause", name)))
}

func (r *reporter) request(op string, took time.Duration, err error) {
	outcome := "ok"
	switch {
	case errors.Is(err, context.Canceled):
		return // the caller went away: that says nothing about the store
	case errors.Is(err, lease.ErrNotFound):
		outcome = "missing"
	case errors.Is(err, lease.ErrConflict):
		outcome = "conflict"
	case err != nil:
		outcome = "error"
	}
	r.telemetry.LeaseRequestDuration.Record(context.Background(), took.Seconds(),
		metric.WithAttributes(attribute.String("op", op), attribute.String("outcome", outcome)))
	r.health.Request(op, took, err)
}

// changed reports that the store begins to fail, or answers again.
func (r *reporter) changed(err error) {
	if err == nil {
		r.logger.Info("Lease store answers again", zap.String("backend", r.backend))
		componentstatus.ReportStatus(r.host, componentstatus.NewEvent(componentstatus.StatusOK))
		return
	}
	r.logger.Warn("Lease store fails", zap.String("backend", r.backend), zap.Error(err))
	componentstatus.ReportStatus(r.host, componentstatus.NewRecoverableErrorEvent(err))
}
