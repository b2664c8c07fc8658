package decode

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// The fields of a data point.
const (
	pointStart = ownFields + iota
	pointTime
	metricName
	metricDescription
	metricUnit
	metricMetadata
	metricType
	metricTemporality
	metricMonotonic
	pointAttributes
	pointFlags
	pointDouble
	pointInt
	pointCount
	pointSum
	pointMin
	pointMax
	pointBuckets
	pointBounds
	pointScale
	pointZeroCount
	pointZeroThreshold
	pointPositiveOffset
	pointPositive
	pointNegativeOffset
	pointNegative
	pointQuantiles
	pointExemplars
)

// metrics makes requests of data points.
type metrics struct {
	one, all pmetric.Metrics
	sizer    pmetric.ProtoMarshaler
}

func (x *metrics) schema() schema {
	quantiles := fields(asDouble, "quantile", "value")
	exemplars := slices.Concat(fields(asNumber, "time_unix_nano"), fields(asDouble, "value_double"), fields(asNumber, "value_int"),
		fields(asText, "trace_id", "span_id"), fields(asObject, "attributes"))
	return schema{
		signal: partition.Metrics, attributes: pointAttributes, derived: []string{"ts", "received_at", "service_name"},
		fields: withOwn(
			fields(asNumber, "start_time_unix_nano", "time_unix_nano"),
			fields(asText, "metric_name", "metric_description", "metric_unit"), fields(asObject, "metric_metadata"),
			fields(asText, "metric_type", "aggregation_temporality"), fields(asNumber, "is_monotonic"),
			fields(asObject, "attributes"), fields(asNumber, "flags"), fields(asDouble, "value_double"), fields(asNumber, "value_int", "count"),
			fields(asDouble, "sum", "min", "max"), fields(asNumbers, "bucket_counts"), fields(asDoubles, "explicit_bounds"),
			fields(asNumber, "scale", "zero_count"), fields(asDouble, "zero_threshold"),
			fields(asNumber, "positive_offset"), fields(asNumbers, "positive_bucket_counts"),
			fields(asNumber, "negative_offset"), fields(asNumbers, "negative_bucket_counts"),
			[]field{{"quantiles", asStructs, quantiles}, {"exemplars", asStructs, exemplars}}),
	}
}

func (x *metrics) heads() [][]int {
	return heads([]int{
		metricName, metricDescription, metricUnit, metricMetadata, metricType, metricTemporality, metricMonotonic,
	})
}

func (x *metrics) begin() {
	x.one = pmetric.NewMetrics()
	x.one.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
}

func (x *metrics) size() int { return x.sizer.MetricsSize(x.one) }

func (x *metrics) head(r row, level int) {
	rm := x.one.ResourceMetrics().At(0)
	sm := rm.ScopeMetrics().At(0)
	switch level {
	case 0:
		rm.SetSchemaUrl(r.text(resourceSchema))
		readResource(r, rm.Resource())
	case 1:
		sm.SetSchemaUrl(r.text(scopeSchema))
		readScope(r, sm.Scope())
	default:
		readMetric(r, sm.Metrics().At(0))
	}
}

// readMetric reads all but the kind of the metric m, which it has already.
func readMetric(r row, m pmetric.Metric) {
	m.SetName(r.text(metricName))
	m.SetDescription(r.text(metricDescription))
	m.SetUnit(r.text(metricUnit))
	r.attributes(metricMetadata, m.Metadata())
	temporality := func() pmetric.AggregationTemporality {
		return pmetric.AggregationTemporality(readEnum(r, metricTemporality, otlp.Temporalities()))
	}
	switch m.Type() {
	case pmetric.MetricTypeSum:
		m.Sum().SetAggregationTemporality(temporality())
		monotonic, _ := r.optional(metricMonotonic)
		m.Sum().SetIsMonotonic(monotonic != 0)
	case pmetric.MetricTypeHistogram:
		m.Histogram().SetAggregationTemporality(temporality())
	case pmetric.MetricTypeExponentialHistogram:
		m.ExponentialHistogram().SetAggregationTemporality(temporality())
	}
}

func (x *metrics) item(r row) {
	m := x.one.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	switch kind := r.text(metricType); kind {
	case otlp.MetricType(otlp.Gauge):
		readNumber(r, m.SetEmptyGauge().DataPoints().AppendEmpty())
	case otlp.MetricType(otlp.Sum):
		readNumber(r, m.SetEmptySum().DataPoints().AppendEmpty())
	case otlp.MetricType(otlp.Histogram):
		readHistogram(r, m.SetEmptyHistogram().DataPoints().AppendEmpty())
	case otlp.MetricType(otlp.ExponentialHistogram):
		readExponential(r, m.SetEmptyExponentialHistogram().DataPoints().AppendEmpty())
	case otlp.MetricType(otlp.Summary):
		readSummary(r, m.SetEmptySummary().DataPoints().AppendEmpty())
	default:
		r.fail(malformed("%q is no type of a metric", short(kind)))
	}
}

func (x *metrics) put(level int) {
	from, to := x.one.ResourceMetrics(), x.all.ResourceMetrics()
	if level == 0 {
		from.MoveAndAppendTo(to)
		return
	}
	scopes, into := from.At(0).ScopeMetrics(), to.At(to.Len()-1).ScopeMetrics()
	if level == 1 {
		scopes.MoveAndAppendTo(into)
		return
	}
	one, all := scopes.At(0).Metrics(), into.At(into.Len()-1).Metrics()
	if level == 2 {
		one.MoveAndAppendTo(all)
		return
	}
	movePoints(one.At(0), all.At(all.Len()-1))
}

// movePoints moves the points of a metric to another one of its kind.
func movePoints(from, to pmetric.Metric) {
	switch from.Type() {
	case pmetric.MetricTypeGauge:
		from.Gauge().DataPoints().MoveAndAppendTo(to.Gauge().DataPoints())
	case pmetric.MetricTypeSum:
		from.Sum().DataPoints().MoveAndAppendTo(to.Sum().DataPoints())
	case pmetric.MetricTypeHistogram:
		from.Histogram().DataPoints().MoveAndAppendTo(to.Histogram().DataPoints())
	case pmetric.MetricTypeExponentialHistogram:
		from.ExponentialHistogram().DataPoints().MoveAndAppendTo(to.ExponentialHistogram().DataPoints())
	case pmetric.MetricTypeSummary:
		from.Summary().DataPoints().MoveAndAppendTo(to.Summary().DataPoints())
	}
}

func (x *metrics) take() pmetric.Metrics {
	out := x.all
	x.all = pmetric.NewMetrics()
	return out
}
