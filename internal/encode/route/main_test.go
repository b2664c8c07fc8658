package route

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/internal/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// one is a request with a single record, span or data point, as the oracle
// has it.
type one struct {
	bytes                   string
	time                    uint64 // nanoseconds; 0 for when it was received
	resource, scope, record pcommon.Map
}

// flatten takes a request apart with the collector's own decoder.
func flatten(t testing.TB, signal partition.Signal, payload []byte) []one {
	t.Helper()
	var out []one
	var err error
	switch signal {
	case partition.Logs:
		out, err = flattenLogs(payload)
	case partition.Traces:
		out, err = flattenTraces(payload)
	default:
		out, err = flattenMetrics(payload)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func first(times ...pcommon.Timestamp) uint64 {
	for _, t := range times {
		if t != 0 {
			return uint64(t)
		}
	}
	return 0
}

func flattenLogs(payload []byte) (out []one, err error) {
	ld, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(payload)
	if err != nil {
		return nil, err
	}
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				single := plog.NewLogs()
				r := single.ResourceLogs().AppendEmpty()
				rl.Resource().CopyTo(r.Resource())
				r.SetSchemaUrl(rl.SchemaUrl())
				s := r.ScopeLogs().AppendEmpty()
				sl.Scope().CopyTo(s.Scope())
				s.SetSchemaUrl(sl.SchemaUrl())
				lr.CopyTo(s.LogRecords().AppendEmpty())
				b, err := (&plog.ProtoMarshaler{}).MarshalLogs(single)
				if err != nil {
					return nil, err
				}
				out = append(out, one{string(b), first(lr.Timestamp(), lr.ObservedTimestamp()),
					rl.Resource().Attributes(), sl.Scope().Attributes(), lr.Attributes()})
			}
		}
	}
	return out, nil
}

func flattenTraces(payload []byte) (out []one, err error) {
	td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(payload)
	if err != nil {
		return nil, err
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, sp := range ss.Spans().All() {
				single := ptrace.NewTraces()
				r := single.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(r.Resource())
				s := r.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(s.Scope())
				sp.CopyTo(s.Spans().AppendEmpty())
				b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(single)
				if err != nil {
					return nil, err
				}
				out = append(out, one{string(b), first(sp.StartTimestamp(), sp.EndTimestamp()),
					rs.Resource().Attributes(), ss.Scope().Attributes(), sp.Attributes()})
			}
		}
	}
	return out, nil
}

func flattenMetrics(payload []byte) (out []one, err error) {
	md, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload)
	if err != nil {
		return nil, err
	}
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				for i, p := range pointsOf(m) {
					single := pmetric.NewMetrics()
					r := single.ResourceMetrics().AppendEmpty()
					rm.Resource().CopyTo(r.Resource())
					s := r.ScopeMetrics().AppendEmpty()
					sm.Scope().CopyTo(s.Scope())
					to := s.Metrics().AppendEmpty()
					m.CopyTo(to)
					keep(to, i)
					b, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(single)
					if err != nil {
						return nil, err
					}
					out = append(out, one{string(b), uint64(p.Timestamp()), rm.Resource().Attributes(), sm.Scope().Attributes(), p.Attributes()})
				}
			}
		}
	}
	return out, nil
}

// dataPoint is what points of all kinds have in common.
type dataPoint interface {
	Timestamp() pcommon.Timestamp
	Attributes() pcommon.Map
}

func collect[P dataPoint](n int, at func(int) P) (out []dataPoint) {
	for i := range n {
		out = append(out, at(i))
	}
	return out
}

func pointsOf(m pmetric.Metric) []dataPoint {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return collect(m.Gauge().DataPoints().Len(), m.Gauge().DataPoints().At)
	case pmetric.MetricTypeSum:
		return collect(m.Sum().DataPoints().Len(), m.Sum().DataPoints().At)
	case pmetric.MetricTypeHistogram:
		return collect(m.Histogram().DataPoints().Len(), m.Histogram().DataPoints().At)
	case pmetric.MetricTypeExponentialHistogram:
		return collect(m.ExponentialHistogram().DataPoints().Len(), m.ExponentialHistogram().DataPoints().At)
	case pmetric.MetricTypeSummary:
		return collect(m.Summary().DataPoints().Len(), m.Summary().DataPoints().At)
	}
	return nil
}

// keep leaves only point i of the metric.
func keep(m pmetric.Metric, i int) {
	n := -1
	others := func() bool { n++; return n != i }
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		m.Gauge().DataPoints().RemoveIf(func(pmetric.NumberDataPoint) bool { return others() })
	case pmetric.MetricTypeSum:
		m.Sum().DataPoints().RemoveIf(func(pmetric.NumberDataPoint) bool { return others() })
	case pmetric.MetricTypeHistogram:
		m.Histogram().DataPoints().RemoveIf(func(pmetric.HistogramDataPoint) bool { return others() })
	case pmetric.MetricTypeExponentialHistogram:
		m.ExponentialHistogram().DataPoints().RemoveIf(func(pmetric.ExponentialHistogramDataPoint) bool { return others() })
	case pmetric.MetricTypeSummary:
		m.Summary().DataPoints().RemoveIf(func(pmetric.SummaryDataPoint) bool { return others() })
	default:
		panic(fmt.Sprint("no data in a metric with points: ", m.Type()))
	}
}
