package decode

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
)

// headCount counts the resources, scopes and metrics of a request.
func headCount(signal partition.Signal, payload []byte) (n int) {
	if signal == partition.Traces {
		x, _ := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(payload)
		for _, rs := range x.ResourceSpans().All() {
			n += 1 + rs.ScopeSpans().Len()
		}
		return n
	}
	x, _ := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload)
	for _, rm := range x.ResourceMetrics().All() {
		n += 1 + rm.ScopeMetrics().Len()
		for _, sm := range rm.ScopeMetrics().All() {
			n += sm.Metrics().Len()
		}
	}
	return n
}

func marshalTraces(x ptrace.Traces) []byte {
	b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(x)
	if err != nil {
		panic(err) // the marshaler has no error to return
	}
	return b
}

func marshalMetrics(x pmetric.Metrics) []byte {
	b, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(x)
	if err != nil {
		panic(err) // the marshaler has no error to return
	}
	return b
}

// normalHeads brings what a record stands in into its normal form.
func normalHeads(spec encode.Spec, r pcommon.Resource, s pcommon.InstrumentationScope) {
	normalMap(r.Attributes(), spec, func(c encode.Column) string { return c.ResourceAttribute })
	s.SetName(mended(s.Name()))
	s.SetVersion(mended(s.Version()))
	normalMap(s.Attributes(), spec, func(c encode.Column) string { return c.ScopeAttribute })
}

// normalNumber returns a double without the payload of a NaN, which Parquet's
// columns of doubles keep.
func normalNumber(spec encode.Spec, f float64) float64 {
	if spec.Format != "parquet" && math.IsNaN(f) {
		return math.NaN()
	}
	return f
}
