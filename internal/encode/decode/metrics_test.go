package decode

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

func (w world) double(label string) float64 {
	return rapid.OneOf(rapid.SampledFrom([]float64{
		0, math.Copysign(0, -1), 1, 1e21, 1e-7, 5e-324, math.MaxFloat64, math.NaN(), math.Float64frombits(0x7ff8000000000123),
		math.Inf(1), math.Inf(-1), 1 << 53,
	}), rapid.Float64()).Draw(w.T, label)
}

func (w world) int64(label string) int64 {
	return rapid.SampledFrom([]int64{0, 1, -1, 1<<53 + 1, math.MinInt64, math.MaxInt64}).Draw(w.T, label)
}

func (w world) metrics() pmetric.Metrics {
	x := pmetric.NewMetrics()
	for range rapid.IntRange(0, 2).Draw(w.T, "resources") {
		rm := x.ResourceMetrics().AppendEmpty()
		rm.SetSchemaUrl(w.pick("schema", "", "https://x", "\xff"))
		w.resource(rm.Resource())
		for range rapid.IntRange(0, 2).Draw(w.T, "scopes") {
			sm := rm.ScopeMetrics().AppendEmpty()
			sm.SetSchemaUrl(w.pick("schema", "", "https://y"))
			w.instrumentation(sm.Scope())
			for range rapid.IntRange(0, 3).Draw(w.T, "metrics") {
				w.metric(sm.Metrics().AppendEmpty())
			}
		}
	}
	return x
}

func (w world) metric(m pmetric.Metric) {
	m.SetName(w.pick("metric", "", "m", "a\xff"))
	m.SetDescription(w.pick("description", "", "d", "\xff"))
	m.SetUnit(w.pick("unit", "", "By"))
	if rapid.Bool().Draw(w.T, "metadata") {
		w.attributes(m.Metadata(), 2)
	}
	temporality := pmetric.AggregationTemporality(w.enum("temporality"))
	points := rapid.IntRange(0, 3).Draw(w.T, "points")
	switch rapid.IntRange(0, 5).Draw(w.T, "type") {
	case 0:
		p := m.SetEmptyGauge().DataPoints()
		for range points {
			w.number(p.AppendEmpty())
		}
	case 1:
		s := m.SetEmptySum()
		s.SetAggregationTemporality(temporality)
		s.SetIsMonotonic(rapid.Bool().Draw(w.T, "monotonic"))
		for range points {
			w.number(s.DataPoints().AppendEmpty())
		}
	case 2:
		h := m.SetEmptyHistogram()
		h.SetAggregationTemporality(temporality)
		for range points {
			w.histogram(h.DataPoints().AppendEmpty())
		}
	case 3:
		h := m.SetEmptyExponentialHistogram()
		h.SetAggregationTemporality(temporality)
		for range points {
			w.exponential(h.DataPoints().AppendEmpty())
		}
	case 4:
		s := m.SetEmptySummary()
		for range points {
			w.summary(s.DataPoints().AppendEmpty())
		}
	}
}

func (w world) common(p point) {
	p.SetStartTimestamp(w.time("start"))
	p.SetTimestamp(w.time("time"))
	p.SetFlags(pmetric.DataPointFlags(w.uint32("flags")))
	w.attributes(p.Attributes(), 1)
}

func (w world) single(to single) {
	switch rapid.IntRange(0, 2).Draw(w.T, "value") {
	case 0:
		to.SetDoubleValue(w.double("value"))
	case 1:
		to.SetIntValue(w.int64("value"))
	}
}

func (w world) exemplars(to pmetric.ExemplarSlice) {
	for range rapid.IntRange(0, 2).Draw(w.T, "exemplars") {
		e := to.AppendEmpty()
		e.SetTimestamp(w.time("time"))
		w.single(e)
		e.SetTraceID(w.traceID())
		e.SetSpanID(w.spanID())
		w.attributes(e.FilteredAttributes(), 2)
	}
}

func (w world) number(p pmetric.NumberDataPoint) {
	w.common(p)
	w.single(p)
	w.exemplars(p.Exemplars())
}

func (w world) counts(to pcommon.UInt64Slice) {
	for range rapid.IntRange(0, 4).Draw(w.T, "counts") {
		to.Append(uint64(w.int64("count")))
	}
}

func (w world) optional(set func(float64)) {
	if rapid.Bool().Draw(w.T, "has") {
		set(w.double("value"))
	}
}

func (w world) histogram(p pmetric.HistogramDataPoint) {
	w.common(p)
	p.SetCount(uint64(w.int64("count")))
	w.optional(p.SetSum)
	w.optional(p.SetMin)
	w.optional(p.SetMax)
	w.counts(p.BucketCounts())
	for range rapid.IntRange(0, 4).Draw(w.T, "bounds") {
		p.ExplicitBounds().Append(w.double("bound"))
	}
	w.exemplars(p.Exemplars())
}

func (w world) exponential(p pmetric.ExponentialHistogramDataPoint) {
	w.common(p)
	p.SetCount(uint64(w.int64("count")))
	w.optional(p.SetSum)
	w.optional(p.SetMin)
	w.optional(p.SetMax)
	p.SetScale(w.enum("scale"))
	p.SetZeroCount(uint64(w.int64("zeros")))
	p.SetZeroThreshold(w.double("threshold"))
	p.Positive().SetOffset(w.enum("offset"))
	w.counts(p.Positive().BucketCounts())
	p.Negative().SetOffset(w.enum("offset"))
	w.counts(p.Negative().BucketCounts())
	w.exemplars(p.Exemplars())
}

func (w world) summary(p pmetric.SummaryDataPoint) {
	w.common(p)
	p.SetCount(uint64(w.int64("count")))
	p.SetSum(w.double("sum"))
	for range rapid.IntRange(0, 3).Draw(w.T, "quantiles") {
		q := p.QuantileValues().AppendEmpty()
		q.SetQuantile(w.double("quantile"))
		q.SetValue(w.double("value"))
	}
}

func alonePoints(t failer, payload []byte) (out []group) {
	t.Helper()
	x, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload)
	if err != nil {
		t.Fatalf("pdata refuses the payload: %v", err)
	}
	for _, rm := range x.ResourceMetrics().All() {
		g := group{service: serviceOf(rm.Resource())}
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				eachPoint(m, func(to pmetric.Metric, put func(to pmetric.Metric)) {
					one := pmetric.NewMetrics()
					r := one.ResourceMetrics().AppendEmpty()
					rm.Resource().Attributes().CopyTo(r.Resource().Attributes())
					r.Resource().SetDroppedAttributesCount(rm.Resource().DroppedAttributesCount())
					r.SetSchemaUrl(rm.SchemaUrl())
					s := r.ScopeMetrics().AppendEmpty()
					sm.Scope().CopyTo(s.Scope())
					s.SetSchemaUrl(sm.SchemaUrl())
					to.CopyTo(s.Metrics().AppendEmpty())
					put(s.Metrics().At(0))
					g.records = append(g.records, marshalMetrics(one))
				})
			}
		}
		out = append(out, g)
	}
	return out
}

// eachPoint visits the points of a metric, each with the metric without points
// and how to put it there.
func eachPoint(m pmetric.Metric, visit func(bare pmetric.Metric, put func(pmetric.Metric))) {
	bare := pmetric.NewMetric()
	m.CopyTo(bare)
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		bare.Gauge().DataPoints().RemoveIf(func(pmetric.NumberDataPoint) bool { return true })
		for _, p := range m.Gauge().DataPoints().All() {
			visit(bare, func(to pmetric.Metric) { p.CopyTo(to.Gauge().DataPoints().AppendEmpty()) })
		}
	case pmetric.MetricTypeSum:
		bare.Sum().DataPoints().RemoveIf(func(pmetric.NumberDataPoint) bool { return true })
		for _, p := range m.Sum().DataPoints().All() {
			visit(bare, func(to pmetric.Metric) { p.CopyTo(to.Sum().DataPoints().AppendEmpty()) })
		}
	case pmetric.MetricTypeHistogram:
		bare.Histogram().DataPoints().RemoveIf(func(pmetric.HistogramDataPoint) bool { return true })
		for _, p := range m.Histogram().DataPoints().All() {
			visit(bare, func(to pmetric.Metric) { p.CopyTo(to.Histogram().DataPoints().AppendEmpty()) })
		}
	case pmetric.MetricTypeExponentialHistogram:
		bare.ExponentialHistogram().DataPoints().RemoveIf(func(pmetric.ExponentialHistogramDataPoint) bool { return true })
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			visit(bare, func(to pmetric.Metric) { p.CopyTo(to.ExponentialHistogram().DataPoints().AppendEmpty()) })
		}
	case pmetric.MetricTypeSummary:
		bare.Summary().DataPoints().RemoveIf(func(pmetric.SummaryDataPoint) bool { return true })
		for _, p := range m.Summary().DataPoints().All() {
			visit(bare, func(to pmetric.Metric) { p.CopyTo(to.Summary().DataPoints().AppendEmpty()) })
		}
	}
}

func pointHeads(one []byte) (out [][]byte) {
	x, _ := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(one)
	rm := x.ResourceMetrics().At(0)
	ms := rm.ScopeMetrics().At(0).Metrics()
	eachPoint(ms.At(0), func(bare pmetric.Metric, _ func(pmetric.Metric)) { bare.CopyTo(ms.AppendEmpty()) })
	first := true
	ms.RemoveIf(func(pmetric.Metric) bool {
		was := first
		first = false
		return was
	})
	metric := marshalMetrics(x)
	ms.RemoveIf(func(pmetric.Metric) bool { return true })
	scope := marshalMetrics(x)
	rm.ScopeMetrics().RemoveIf(func(pmetric.ScopeMetrics) bool { return true })
	return [][]byte{marshalMetrics(x), scope, metric}
}
