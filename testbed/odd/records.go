package odd

import (
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/partition"
)

// Records says how many records pdata finds in the request; an error that it
// does not read it.
func (c Case) Records() (int, error) {
	switch c.Signal {
	case partition.Traces:
		x, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(c.Payload)
		if err != nil {
			return 0, err
		}
		return x.SpanCount(), nil
	case partition.Metrics:
		x, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(c.Payload)
		if err != nil {
			return 0, err
		}
		return x.DataPointCount(), nil
	}
	x, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(c.Payload)
	if err != nil {
		return 0, err
	}
	return x.LogRecordCount(), nil
}

// Plain is a request of n ordinary records of a signal: a neighbour of odd ones.
func Plain(s partition.Signal, n int) Case {
	x := shapeOf(s)
	c := Case{Name: "plain", Signal: s, Valid: true}
	for i := range n {
		c.Payload = append(c.Payload, x.record(fixed64(x.time, uint64(1789990000123456789+i)), attribute(x.attributes, "plain", varint(3, uint64(i))))...)
	}
	return c
}
