package decode

import (
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// metrics makes requests of data points.
type metrics struct {
	one, all pmetric.Metrics
	sizer    pmetric.ProtoMarshaler
}

func (x *metrics) layout() layout {
	return newLayout(partition.Metrics, pointFields(), pointAttributes)
}

func (x *metrics) heads() [][]int {
	return heads([]int{
		metricName, metricDescription, metricUnit, metricMetadata, metricType, metricAggregationTemporality, metricIsMonotonic,
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
		rm.SetSchemaUrl(r.text(resourceSchemaURL))
		readResource(r, rm.Resource())
	case 1:
		sm.SetSchemaUrl(r.text(scopeSchemaURL))
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
		return pmetric.AggregationTemporality(readEnum(r, metricAggregationTemporality, otlp.Temporalities()))
	}
	switch m.Type() {
	case pmetric.MetricTypeSum:
		m.Sum().SetAggregationTemporality(temporality())
		monotonic, _ := r.optional(metricIsMonotonic)
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
