package decode

import (
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/s3window/s3window/internal/encode"
)

// pointNormal brings points into their normal form.
type pointNormal struct{ encode.Spec }

func normalPoint(spec encode.Spec, one []byte) []byte {
	x, _ := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(one)
	rm := x.ResourceMetrics().At(0)
	sm := rm.ScopeMetrics().At(0)
	rm.SetSchemaUrl(mended(rm.SchemaUrl()))
	sm.SetSchemaUrl(mended(sm.SchemaUrl()))
	normalHeads(spec, rm.Resource(), sm.Scope())
	m := sm.Metrics().At(0)
	m.SetName(mended(m.Name()))
	m.SetDescription(mended(m.Description()))
	m.SetUnit(mended(m.Unit()))
	normalMap(m.Metadata(), encode.Spec{}, nil)
	n := pointNormal{spec}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		n.number(m.Gauge().DataPoints().At(0))
	case pmetric.MetricTypeSum:
		n.number(m.Sum().DataPoints().At(0))
	case pmetric.MetricTypeHistogram:
		n.histogram(m.Histogram().DataPoints().At(0))
	case pmetric.MetricTypeExponentialHistogram:
		n.exponential(m.ExponentialHistogram().DataPoints().At(0))
	case pmetric.MetricTypeSummary:
		n.summary(m.Summary().DataPoints().At(0))
	}
	return marshalMetrics(x)
}

func (n pointNormal) attributes(m pcommon.Map) {
	normalMap(m, n.Spec, func(c encode.Column) string { return c.Attribute })
}

func (n pointNormal) set(has bool, value float64, set func(float64)) {
	if has {
		set(normalNumber(n.Spec, value))
	}
}

func (n pointNormal) exemplars(s pmetric.ExemplarSlice) {
	for _, e := range s.All() {
		n.set(e.ValueType() == pmetric.ExemplarValueTypeDouble, e.DoubleValue(), e.SetDoubleValue)
		normalMap(e.FilteredAttributes(), encode.Spec{}, nil)
	}
}

func (n pointNormal) number(p pmetric.NumberDataPoint) {
	n.attributes(p.Attributes())
	n.set(p.ValueType() == pmetric.NumberDataPointValueTypeDouble, p.DoubleValue(), p.SetDoubleValue)
	n.exemplars(p.Exemplars())
}

func (n pointNormal) histogram(p pmetric.HistogramDataPoint) {
	n.attributes(p.Attributes())
	n.set(p.HasSum(), p.Sum(), p.SetSum)
	n.set(p.HasMin(), p.Min(), p.SetMin)
	n.set(p.HasMax(), p.Max(), p.SetMax)
	for i, b := range p.ExplicitBounds().All() {
		p.ExplicitBounds().SetAt(i, normalNumber(n.Spec, b))
	}
	n.exemplars(p.Exemplars())
}

func (n pointNormal) exponential(p pmetric.ExponentialHistogramDataPoint) {
	n.attributes(p.Attributes())
	n.set(p.HasSum(), p.Sum(), p.SetSum)
	n.set(p.HasMin(), p.Min(), p.SetMin)
	n.set(p.HasMax(), p.Max(), p.SetMax)
	n.set(true, p.ZeroThreshold(), p.SetZeroThreshold)
	n.exemplars(p.Exemplars())
}

func (n pointNormal) summary(p pmetric.SummaryDataPoint) {
	n.attributes(p.Attributes())
	n.set(true, p.Sum(), p.SetSum)
	for _, q := range p.QuantileValues().All() {
		n.set(true, q.Quantile(), q.SetQuantile)
		n.set(true, q.Value(), q.SetValue)
	}
}

// Metrics share a head only if they are equal in all of it.
func TestMetricsThatDifferInOneThing(t *testing.T) {
	x := pmetric.NewMetrics()
	ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	for _, change := range []func(pmetric.Metric){
		func(pmetric.Metric) {},
		func(m pmetric.Metric) { m.SetName("n") },
		func(m pmetric.Metric) { m.SetDescription("n") },
		func(m pmetric.Metric) { m.SetUnit("n") },
		func(m pmetric.Metric) { m.Metadata().PutStr("k", "1") },
		func(m pmetric.Metric) { m.Metadata().PutInt("k", 1) },
		func(m pmetric.Metric) { m.Sum().SetIsMonotonic(true) },
		func(pmetric.Metric) {},
		func(m pmetric.Metric) { m.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta) },
		func(m pmetric.Metric) { m.SetEmptyGauge().DataPoints().AppendEmpty() },
	} {
		m := ms.AppendEmpty()
		m.SetEmptySum().DataPoints().AppendEmpty()
		change(m)
	}
	entries := []encode.Entry{{Payload: marshalMetrics(x)}}
	s := signals()[1]
	_, all := s.encoders(t)
	for name, e := range all {
		got, err := s.again(objectOf(t, s.name, e, entries))
		if err != nil || string(got) != string(entries[0].Payload) {
			t.Errorf("%s: %d bytes came back, want %d: %v", name, len(got), len(entries[0].Payload), err)
		}
	}
}
