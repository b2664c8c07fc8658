package decode

import (
	"errors"
	"fmt"
	"io"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// ErrMalformed is what errors about an object's content wrap. Errors of
// reading it do not.
var ErrMalformed = errors.New("malformed object")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}

// Object is a data object.
type Object struct {
	Content io.ReaderAt
	Size    int64
	Ext     string // parquet, jsonl, jsonl.gz, jsonl.zst
	Schema  int    // as its manifest says; 0 = not known
}

// EachLogs visits the log records of an object in parts whose size as OTLP is
// at most limit bytes, unless a single record is larger. An error of visit ends
// it and is returned as it is. Memory is bounded by a part, by a row group's
// pages and by the longest line.
func EachLogs(o Object, limit int, visit func(plog.Logs) error) error {
	return each(o, &logs{all: plog.NewLogs()}, limit, visit)
}

// EachTraces is EachLogs for spans.
func EachTraces(o Object, limit int, visit func(ptrace.Traces) error) error {
	return each(o, &traces{all: ptrace.NewTraces(), kinds: otlp.SpanKinds(), codes: otlp.StatusCodes()}, limit, visit)
}

// EachMetrics is EachLogs for data points.
func EachMetrics(o Object, limit int, visit func(pmetric.Metrics) error) error {
	return each(o, &metrics{all: pmetric.NewMetrics()}, limit, visit)
}

// EachRequest is EachLogs for records of any signal, as Export…ServiceRequest
// messages.
func EachRequest(o Object, signal partition.Signal, limit int, visit func(request []byte, records int) error) error {
	switch signal {
	case partition.Logs:
		return EachLogs(o, limit, func(x plog.Logs) error {
			return visitBytes(plogotlp.NewExportRequestFromLogs(x).MarshalProto, x.LogRecordCount(), visit)
		})
	case partition.Traces:
		return EachTraces(o, limit, func(x ptrace.Traces) error {
			return visitBytes(ptraceotlp.NewExportRequestFromTraces(x).MarshalProto, x.SpanCount(), visit)
		})
	case partition.Metrics:
		return EachMetrics(o, limit, func(x pmetric.Metrics) error {
			return visitBytes(pmetricotlp.NewExportRequestFromMetrics(x).MarshalProto, x.DataPointCount(), visit)
		})
	}
	return fmt.Errorf("decode: signal %q is not known", signal)
}

func visitBytes(marshal func() ([]byte, error), records int, visit func([]byte, int) error) error {
	b, err := marshal()
	if err != nil {
		return fmt.Errorf("decode: make a request: %w", err)
	}
	return visit(b, records)
}

func each[T any](o Object, s shape[T], limit int, visit func(T) error) error {
	if o.Schema > encode.SchemaVersion() {
		return fmt.Errorf("decode: the object has schema %d, this version knows up to %d", o.Schema, encode.SchemaVersion())
	}
	src, err := open(o, s.layout())
	if err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	defer src.close()
	b := builder[T]{shape: s, src: src, limit: limit, visit: visit}
	for {
		more, err := src.next()
		if err != nil {
			return fmt.Errorf("decode record %d: %w", b.records, err)
		}
		if !more {
			return b.emit()
		}
		if err := b.add(); err != nil {
			return err
		}
	}
}

const extParquet = "parquet"

func open(o Object, s layout) (source, error) {
	if o.Ext == extParquet {
		return openParquet(o, s)
	}
	return openLines(o, s)
}
