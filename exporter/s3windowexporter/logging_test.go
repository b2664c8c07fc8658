package s3windowexporter

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	zapobserver "go.uber.org/zap/zaptest/observer"
)

// The collector gives each signal's part of an exporter telemetry that says its
// signal, and lets it be taken off.
type (
	injectedCore struct {
		zapcore.Core
		below zapcore.Core
		attrs []zapcore.Field
	}
	injectedMeters struct {
		metric.MeterProvider
		dropped *[]string
	}
	injectedTracers struct {
		trace.TracerProvider
		dropped *[]string
	}
)

func inject(below zapcore.Core, attrs ...zapcore.Field) injectedCore {
	return injectedCore{below.With(attrs), below, attrs}
}

func (c injectedCore) DropInjectedAttributes(dropped ...string) zapcore.Core {
	return inject(c.below, slices.DeleteFunc(slices.Clone(c.attrs), func(f zapcore.Field) bool { return slices.Contains(dropped, f.Key) })...)
}

func (m injectedMeters) DropInjectedAttributes(dropped ...string) metric.MeterProvider {
	*m.dropped = append(*m.dropped, dropped...)
	return m.MeterProvider
}

func (m injectedTracers) DropInjectedAttributes(dropped ...string) trace.TracerProvider {
	*m.dropped = append(*m.dropped, dropped...)
	return m.TracerProvider
}

// A line about a window is of its signal, whichever signal's part of the
// exporter was there first, and one about the exporter is of none.
func TestLinesAreOfTheirSignal(t *testing.T) {
	below, logged := zapobserver.New(zap.InfoLevel)
	var dropped []string
	ts := shared(component.TelemetrySettings{
		Logger:         zap.New(inject(below, zap.String("otelcol.signal", "logs"), zap.String("otelcol.component.id", "s3window"))),
		MeterProvider:  injectedMeters{metricnoop.NewMeterProvider(), &dropped},
		TracerProvider: injectedTracers{tracenoop.NewTracerProvider(), &dropped},
	})
	assert.Equal(t, []string{"otelcol.signal", "otelcol.signal"}, dropped)
	ts.Logger.Debug("not at this level", zap.String("signal", "traces"))
	ts.Logger.Info("exporter")
	ts.Logger.Info("window", zap.String("signal", "traces"))
	ts.Logger.With(zap.String("signal", "metrics"), zap.String("tenant", "a")).Info("partition")
	var got []map[string]any
	for _, line := range logged.All() {
		got = append(got, line.ContextMap())
	}
	assert.Equal(t, []map[string]any{
		{"otelcol.component.id": "s3window"},
		{"otelcol.component.id": "s3window", "signal": "traces", "otelcol.signal": "traces"},
		{"otelcol.component.id": "s3window", "signal": "metrics", "otelcol.signal": "metrics", "tenant": "a"},
	}, got)
}

// A log of which a sample is kept stays so.
func TestLinesAreSampled(t *testing.T) {
	below, logged := zapobserver.New(zap.InfoLevel)
	ts := shared(component.TelemetrySettings{Logger: zap.New(zapcore.NewSamplerWithOptions(below, time.Hour, 1, 0))})
	for range 3 {
		ts.Logger.Info("the same", zap.String("signal", "logs"))
	}
	require.Equal(t, 1, logged.Len())
	assert.Equal(t, "logs", logged.All()[0].ContextMap()["otelcol.signal"])
}
