package s3windowexporter

import (
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// signalKey is the attribute by which the collector says which signal's part of
// a component a line of the log or a metric is of.
const signalKey = "otelcol.signal"

// injected is a part of the telemetry that the collector has given attributes.
type injected[T any] interface {
	DropInjectedAttributes(dropped ...string) T
}

// shared makes telemetry for all signals of an exporter of that of one of them:
// what is said of no signal names none, and a line about a window its own.
func shared(ts component.TelemetrySettings) component.TelemetrySettings {
	ts.Logger = ts.Logger.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core {
		if i, ok := c.(injected[zapcore.Core]); ok {
			c = i.DropInjectedAttributes(signalKey)
		}
		return signalCore{c}
	}))
	if i, ok := ts.MeterProvider.(injected[metric.MeterProvider]); ok {
		ts.MeterProvider = i.DropInjectedAttributes(signalKey)
	}
	if i, ok := ts.TracerProvider.(injected[trace.TracerProvider]); ok {
		ts.TracerProvider = i.DropInjectedAttributes(signalKey)
	}
	return ts
}

// signalCore says of lines with a signal that they are of it, under the
// collector's key.
type signalCore struct{ zapcore.Core }

// With implements zapcore.Core.
func (c signalCore) With(fields []zapcore.Field) zapcore.Core {
	return signalCore{c.Core.With(withSignal(fields))}
}

// Check implements zapcore.Core. The core below is asked whether it wants the
// line, since it may take a sample of lines only.
func (c signalCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Core.Check(e, nil) == nil {
		return to
	}
	return to.AddCore(e, c)
}

// Write implements zapcore.Core.
func (c signalCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	return c.Core.Write(e, withSignal(fields))
}

func withSignal(fields []zapcore.Field) []zapcore.Field {
	for _, f := range fields {
		if f.Key == "signal" && f.Type == zapcore.StringType {
			return append(fields[:len(fields):len(fields)], zap.String(signalKey, f.String))
		}
	}
	return fields
}
