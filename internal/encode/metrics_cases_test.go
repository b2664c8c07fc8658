package encode

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/s3window/s3window/internal/encode/encodetest"
)

type metricsCase struct {
	name string
	fill func(pmetric.Metrics)
}

func oneMetric(fill func(pmetric.Metric)) func(pmetric.Metrics) {
	return func(x pmetric.Metrics) {
		fill(x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty())
	}
}

func metricsCases() []metricsCase {
	const bad = "a\xff\xfeb\xc3"
	return []metricsCase{
		{"nothing", func(pmetric.Metrics) {}},
		{"metrics without data or points", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			ms.AppendEmpty().SetName("no data")
			ms.AppendEmpty().SetEmptyGauge()
			ms.AppendEmpty().SetEmptySummary()
			ms.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(3)
		}},
		{"an empty point of each kind", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			ms.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
			ms.AppendEmpty().SetEmptySum().DataPoints().AppendEmpty()
			ms.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
			ms.AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
			ms.AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty()
		}},
		{"every field", everyMetric},
		{"extreme numbers", extremeMetrics},
		{"temporalities", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			for i := range 5 {
				s := ms.AppendEmpty().SetEmptySum()
				s.SetAggregationTemporality(pmetric.AggregationTemporality(i))
				s.SetIsMonotonic(i%2 == 0)
				for range i + 1 {
					s.DataPoints().AppendEmpty()
				}
			}
		}},
		{"metrics that differ in one field", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			for range 2 {
				for i := range 6 {
					m := ms.AppendEmpty()
					m.SetName("m")
					switch i {
					case 1:
						m.SetName("n")
					case 2:
						m.SetDescription("d")
					case 3:
						m.SetUnit("d")
					case 4:
						m.Metadata().PutStr("k", "v")
					case 5:
						m.Metadata().PutInt("k", 1)
					}
					m.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(float64(i))
				}
			}
		}},
		{"lists of many lengths", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			for i := range 60 {
				h := ms.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
				for j := range i % 7 {
					h.BucketCounts().Append(uint64(j))
					h.ExplicitBounds().Append(float64(j) / 8)
					e := h.Exemplars().AppendEmpty()
					switch j % 3 {
					case 1:
						e.SetIntValue(int64(j))
					case 2:
						e.SetDoubleValue(float64(j) / 2)
					}
					for range j % 3 {
						e.FilteredAttributes().PutStr("k"+itoa(int64(e.FilteredAttributes().Len())), "v")
					}
				}
			}
		}},
		{"invalid UTF-8 everywhere", oneMetric(func(m pmetric.Metric) {
			m.SetName(bad)
			m.SetDescription(bad)
			m.SetUnit(bad)
			m.Metadata().PutStr(bad, bad)
			p := m.SetEmptyGauge().DataPoints().AppendEmpty()
			p.Attributes().PutStr(bad, bad)
			p.Exemplars().AppendEmpty().FilteredAttributes().PutStr(bad, bad)
		})},
		{"promoted attributes", func(x pmetric.Metrics) {
			rm := x.ResourceMetrics().AppendEmpty()
			rm.Resource().Attributes().PutStr("promoted", "r")
			sm := rm.ScopeMetrics().AppendEmpty()
			sm.Scope().Attributes().PutInt("int", 4)
			p := sm.Metrics().AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
			p.Attributes().PutStr("promoted", "text")
			p.Attributes().PutInt("int", -5)
			p.Attributes().PutStr("double", "of another type")
			p.Attributes().PutBool("bool", true)
		}},
		{"attributes of every kind", oneMetric(func(m pmetric.Metric) {
			kinds(m.Metadata())
			p := m.SetEmptySummary().DataPoints().AppendEmpty()
			kinds(p.Attributes())
		})},
		{"generated", func(x pmetric.Metrics) {
			for _, p := range encodetest.Metrics(3, 3000) {
				y, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(p)
				if err != nil {
					panic(err)
				}
				y.ResourceMetrics().MoveAndAppendTo(x.ResourceMetrics())
			}
		}},
	}
}

func everyMetric(x pmetric.Metrics) {
	rm := x.ResourceMetrics().AppendEmpty()
	rm.SetSchemaUrl("https://resource")
	rm.Resource().SetDroppedAttributesCount(1)
	rm.Resource().Attributes().PutStr("service.name", "shop")
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.SetSchemaUrl("https://scope")
	sm.Scope().SetName("lib")
	sm.Scope().SetVersion("1.2")
	sm.Scope().SetDroppedAttributesCount(2)
	sm.Scope().Attributes().PutBool("a", true)
	metric := func() pmetric.Metric {
		m := sm.Metrics().AppendEmpty()
		m.SetName("name" + itoa(int64(sm.Metrics().Len())))
		m.SetDescription("description")
		m.SetUnit("By")
		m.Metadata().PutStr("source", "statsd")
		return m
	}
	exemplar := func(s pmetric.ExemplarSlice) {
		e := s.AppendEmpty()
		e.SetTimestamp(1789990000123456111)
		e.SetDoubleValue(1.5)
		e.SetTraceID([16]byte{1, 15: 255})
		e.SetSpanID([8]byte{2, 7: 254})
		e.FilteredAttributes().PutStr("ek", "ev")
		s.AppendEmpty().SetIntValue(-7)
	}
	number := func(p pmetric.NumberDataPoint) {
		p.SetStartTimestamp(1789990000123456001)
		p.SetTimestamp(1789990000123456789)
		p.Attributes().PutStr("k", "v")
		p.SetFlags(1)
		exemplar(p.Exemplars())
	}
	g := metric().SetEmptyGauge().DataPoints()
	number(g.AppendEmpty())
	g.At(0).SetDoubleValue(2.5)
	s := metric().SetEmptySum()
	s.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	s.SetIsMonotonic(true)
	number(s.DataPoints().AppendEmpty())
	s.DataPoints().At(0).SetIntValue(42)
	h := metric().SetEmptyHistogram()
	h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	hp := h.DataPoints().AppendEmpty()
	hp.SetStartTimestamp(1)
	hp.SetTimestamp(1789990000123456790)
	hp.SetCount(6)
	hp.SetSum(7.5)
	hp.SetMin(.5)
	hp.SetMax(3.5)
	hp.BucketCounts().FromRaw([]uint64{1, 2, 3})
	hp.ExplicitBounds().FromRaw([]float64{1, 2.5})
	hp.Attributes().PutInt("k", 1)
	hp.SetFlags(1)
	exemplar(hp.Exemplars())
	e := metric().SetEmptyExponentialHistogram()
	e.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	ep := e.DataPoints().AppendEmpty()
	ep.SetStartTimestamp(2)
	ep.SetTimestamp(1789990000123456791)
	ep.SetCount(10)
	ep.SetSum(-3.25)
	ep.SetScale(-2)
	ep.SetZeroCount(4)
	ep.SetZeroThreshold(.125)
	ep.Positive().SetOffset(-3)
	ep.Positive().BucketCounts().FromRaw([]uint64{1, 0, 300})
	ep.Negative().SetOffset(5)
	ep.Negative().BucketCounts().FromRaw([]uint64{9})
	ep.SetMin(-1.5)
	ep.SetMax(8.5)
	ep.Attributes().PutBool("k", true)
	ep.SetFlags(1)
	exemplar(ep.Exemplars())
	sp := metric().SetEmptySummary().DataPoints().AppendEmpty()
	sp.SetStartTimestamp(3)
	sp.SetTimestamp(1789990000123456792)
	sp.SetCount(11)
	sp.SetSum(12.5)
	sp.Attributes().PutDouble("k", 1)
	sp.SetFlags(1)
	for i := range 3 {
		q := sp.QuantileValues().AppendEmpty()
		q.SetQuantile(float64(i) / 2)
		q.SetValue(float64(i) + .25)
	}
}

func extremeMetrics(x pmetric.Metrics) {
	ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64, 1.0 / 3, 1e21} {
		p := ms.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
		p.SetDoubleValue(f)
		p.SetTimestamp(math.MaxUint64)
		p.SetStartTimestamp(1 << 63)
		p.SetFlags(math.MaxUint32)
		p.Exemplars().AppendEmpty().SetDoubleValue(f)
		h := ms.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
		h.SetCount(math.MaxUint64)
		h.SetSum(f)
		h.SetMin(f)
		h.SetMax(f)
		h.ExplicitBounds().Append(f)
		h.BucketCounts().Append(math.MaxUint64)
		e := ms.AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
		e.SetScale(math.MinInt32)
		e.SetZeroCount(math.MaxUint64)
		e.SetZeroThreshold(f)
		e.Positive().SetOffset(math.MaxInt32)
		e.Negative().SetOffset(math.MinInt32)
		e.Negative().BucketCounts().Append(math.MaxUint64, 0, 1<<63)
		q := ms.AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty().QuantileValues().AppendEmpty()
		q.SetQuantile(f)
		q.SetValue(f)
	}
	for _, n := range []int64{math.MinInt64, math.MaxInt64, 0, -1} {
		p := ms.AppendEmpty().SetEmptySum().DataPoints().AppendEmpty()
		p.SetIntValue(n)
		p.Exemplars().AppendEmpty().SetIntValue(n)
	}
}
