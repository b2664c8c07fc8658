package partition

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Traces is Logs for spans.
func (s *Splitter) Traces(ctx context.Context, td ptrace.Traces) ([]Part, error) {
	return split(ctx, s, td.ResourceSpans(), spans, func() ([]byte, error) {
		return (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	})
}

func spans(rs ptrace.ResourceSpans) int {
	n := 0
	for _, ss := range rs.ScopeSpans().All() {
		n += ss.Spans().Len()
	}
	return n
}

// Metrics is Logs for data points. A metric without data points counts for
// nothing, so a resource group of such metrics alone belongs to nobody.
func (s *Splitter) Metrics(ctx context.Context, md pmetric.Metrics) ([]Part, error) {
	return split(ctx, s, md.ResourceMetrics(), dataPoints, func() ([]byte, error) {
		return (&pmetric.ProtoMarshaler{}).MarshalMetrics(md)
	})
}

func dataPoints(rm pmetric.ResourceMetrics) int {
	n := 0
	for _, sm := range rm.ScopeMetrics().All() {
		for _, m := range sm.Metrics().All() {
			n += pointsOf(m)
		}
	}
	return n
}

func pointsOf(m pmetric.Metric) int {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return m.Gauge().DataPoints().Len()
	case pmetric.MetricTypeSum:
		return m.Sum().DataPoints().Len()
	case pmetric.MetricTypeHistogram:
		return m.Histogram().DataPoints().Len()
	case pmetric.MetricTypeExponentialHistogram:
		return m.ExponentialHistogram().DataPoints().Len()
	case pmetric.MetricTypeSummary:
		return m.Summary().DataPoints().Len()
	}
	return 0
}
