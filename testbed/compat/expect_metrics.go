package main

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func metricRows(payload []byte, received int64) (out []row, err error) {
	metrics, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload)
	if err != nil {
		return nil, err
	}
	for _, rm := range metrics.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				for _, r := range pointRows(m, received) {
					r.scope(sm.Scope(), sm.SchemaUrl())
					r.resource(rm.Resource(), rm.SchemaUrl())
					out = append(out, r)
				}
			}
		}
	}
	return out, nil
}

// point is what points of every kind have.
type point interface {
	Timestamp() pcommon.Timestamp
	StartTimestamp() pcommon.Timestamp
	Attributes() pcommon.Map
	Flags() pmetric.DataPointFlags
}

func pointRow(m pmetric.Metric, kind string, p point, received int64) row {
	r := newRow()
	for _, c := range []string{
		"is_monotonic", "value", "value_int", "count", "sum", "min", "max", "scale", "zero_count", "zero_threshold",
		"positive_offset", "negative_offset",
	} {
		r[c] = nil
	}
	for _, c := range []string{"bucket_counts", "explicit_bounds", "positive_bucket_counts", "negative_bucket_counts", "quantiles", "exemplars"} {
		r[c] = []row{}
	}
	r.time(received, p.Timestamp())
	r["time_unix_nano"], r["start_time_unix_nano"] = int64(p.Timestamp()), int64(p.StartTimestamp())
	r["metric_name"], r["metric_description"], r["metric_unit"] = mended(m.Name()), mended(m.Description()), mended(m.Unit())
	r["metric_metadata"] = r.entries(m.Metadata(), ofNobody)
	r["metric_type"], r["aggregation_temporality"], r["flags"] = kind, "", int64(p.Flags())
	r["attributes"] = r.entries(p.Attributes(), ofItem)
	return r
}

func temporality(t pmetric.AggregationTemporality) string {
	return named(int32(t), "unspecified", "delta", "cumulative")
}

func pointRows(m pmetric.Metric, received int64) (out []row) {
	add := func(kind string, p point) row {
		r := pointRow(m, kind, p, received)
		out = append(out, r)
		return r
	}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		for _, p := range m.Gauge().DataPoints().All() {
			add("gauge", p).number(p)
		}
	case pmetric.MetricTypeSum:
		for _, p := range m.Sum().DataPoints().All() {
			r := add("sum", p)
			r.number(p)
			r["aggregation_temporality"], r["is_monotonic"] = temporality(m.Sum().AggregationTemporality()), m.Sum().IsMonotonic()
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			r := add("histogram", p)
			r["aggregation_temporality"] = temporality(m.Histogram().AggregationTemporality())
			r.totals(p)
			r["bucket_counts"], r["explicit_bounds"] = ints(p.BucketCounts()), doubles(p.ExplicitBounds())
			r["exemplars"] = r.exemplars(p.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			r := add("exponential_histogram", p)
			r["aggregation_temporality"] = temporality(m.ExponentialHistogram().AggregationTemporality())
			r.totals(p)
			r.exponential(p)
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			r := add("summary", p)
			r["count"], r["sum"] = int64(p.Count()), double(p.Sum())
			quantiles := []row{}
			for _, q := range p.QuantileValues().All() {
				quantiles = append(quantiles, row{"quantile": double(q.Quantile()), "value": double(q.Value())})
			}
			r["quantiles"] = quantiles
		}
	}
	return out
}

func (r row) number(p pmetric.NumberDataPoint) {
	switch p.ValueType() {
	case pmetric.NumberDataPointValueTypeDouble:
		r["value"] = double(p.DoubleValue())
	case pmetric.NumberDataPointValueTypeInt:
		r["value"] = double(float64(p.IntValue()))
		r["value_int"] = p.IntValue()
	}
	r["exemplars"] = r.exemplars(p.Exemplars())
}

// totals are what both kinds of histograms have.
func (r row) totals(p interface {
	Count() uint64
	HasSum() bool
	Sum() float64
	HasMin() bool
	Min() float64
	HasMax() bool
	Max() float64
}) {
	r["count"] = int64(p.Count())
	if p.HasSum() {
		r["sum"] = double(p.Sum())
	}
	if p.HasMin() {
		r["min"] = double(p.Min())
	}
	if p.HasMax() {
		r["max"] = double(p.Max())
	}
}

func (r row) exponential(p pmetric.ExponentialHistogramDataPoint) {
	r["scale"], r["zero_count"], r["zero_threshold"] = int64(p.Scale()), int64(p.ZeroCount()), double(p.ZeroThreshold())
	r["positive_offset"], r["negative_offset"] = int64(p.Positive().Offset()), int64(p.Negative().Offset())
	r["positive_bucket_counts"], r["negative_bucket_counts"] = ints(p.Positive().BucketCounts()), ints(p.Negative().BucketCounts())
	r["exemplars"] = r.exemplars(p.Exemplars())
}

func ints(s pcommon.UInt64Slice) []int64 {
	out := []int64{}
	for _, n := range s.All() {
		out = append(out, int64(n))
	}
	return out
}

func doubles(s pcommon.Float64Slice) []string {
	out := []string{}
	for _, f := range s.All() {
		out = append(out, double(f))
	}
	return out
}

func (r row) exemplars(s pmetric.ExemplarSlice) []row {
	out := []row{}
	for _, x := range s.All() {
		e := row{
			"time_unix_nano": int64(x.Timestamp()), "value": nil, "value_int": nil, "trace_id": traceID(x.TraceID()),
			"span_id": spanID(x.SpanID()), "attributes": r.entries(x.FilteredAttributes(), ofNobody),
		}
		switch x.ValueType() {
		case pmetric.ExemplarValueTypeDouble:
			e["value"] = double(x.DoubleValue())
		case pmetric.ExemplarValueTypeInt:
			e["value"] = double(float64(x.IntValue()))
			e["value_int"] = x.IntValue()
		}
		out = append(out, e)
	}
	return out
}
