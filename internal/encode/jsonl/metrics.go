package jsonl

import (
	"strconv"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// metrics makes the lines of data points of any kind.
type metrics struct {
	runs
	metric        shared // what the points of a metric have in common
	temporalities otlp.Enum
	point         point
	exemplars     list
	starts        stamp // which lie in another second than the points' times
}

func newMetrics(columns []Column) *metrics {
	x := &metrics{
		runs: newRuns(columns), exemplars: newList(), temporalities: otlp.Temporalities(),
		metric: shared{field: otlp.MetricMetadata, prefix: "metric", object: "_metadata"},
	}
	x.item = x.points
	return x
}

func (x *metrics) held() int {
	return x.runs.held() + x.metric.held() + x.exemplars.held() + x.point.held()
}

// group implements rows.
func (x *metrics) group(out *lines, g *otlp.Group) error {
	defer x.exemplars.release()
	defer x.point.release()
	return x.runs.group(out, g)
}

// points adds the lines of a Metric message. A metric without data points has
// none, as it has none in OTLP's own counts.
func (x *metrics) points(out *lines, b []byte) error {
	m, at := otlp.ParseMetric(b)
	if at < 0 {
		return otlp.Fault(at)
	}
	points := m.Points()
	for first := true; points.Next(); first = false {
		if first {
			if err := x.enter(out); err != nil {
				return err
			}
			if err := x.putMetric(out, &m, b); err != nil {
				return err
			}
		}
		x.attributes.begin()
		x.exemplars.begin()
		x.point.begin()
		if at := x.parse(m.Kind, points.Point); at < 0 {
			return otlp.Fault(at)
		}
		if at := x.line(out, m.Kind); at < 0 {
			return otlp.Fault(at)
		}
	}
	return points.Err()
}

// putMetric makes the fields from metric_name to service_name of the metric m,
// whose message is b.
func (x *metrics) putMetric(out *lines, m *otlp.Metric, b []byte) error {
	s := &x.metric
	s.fields = s.fields[:0]
	s.text("_name", m.Name)
	s.text("_description", m.Description)
	s.text("_unit", m.Unit)
	if err := s.attributes(b); err != nil {
		return err
	}
	s.name("_type")
	s.fields = append(append(s.fields, '"'), otlp.MetricType(m.Kind)...)
	s.fields = append(s.fields, `","aggregation_temporality":"`...)
	if m.Kind != otlp.Gauge && m.Kind != otlp.Summary {
		s.fields = x.temporalities.Append(s.fields, m.Temporality)
	}
	s.fields = append(s.fields, `","is_monotonic":`...)
	if m.Kind == otlp.Sum {
		s.fields = strconv.AppendBool(s.fields, m.Monotonic)
	} else {
		s.fields = append(s.fields, "null"...)
	}
	s.end(out)
	s.fields = append(append(s.fields, `,"service_name":`...), x.service...)
	return nil
}

// What a point does not have, as its fields say it.
const (
	noValue       = `,"value_double":null,"value_int":null`
	noCount       = `,"count":null,"sum":null,"min":null,"max":null`
	noBuckets     = `,"bucket_counts":[],"explicit_bounds":[]`
	noExponential = `,"scale":null,"zero_count":null,"zero_threshold":null` +
		`,"positive_offset":null,"positive_bucket_counts":[],"negative_offset":null,"negative_bucket_counts":[]`
	noQuantiles = `,"quantiles":[]`
)

// line appends the point's line to out.
func (x *metrics) line(out *lines, kind uint64) int {
	p := &x.point
	b, ts := out.begin(p.Time)
	b = x.starts.appendNanos(append(b, `,"start_time_unix_nano":`...), p.Start)
	b = out.stamp.appendNanos(append(b, `,"time_unix_nano":`...), p.Time)
	b = append(append(b, `,"received_at":`...), out.receivedText...)
	b = append(b, x.metric.fields...)
	from := len(b)
	b, at := x.attributes.append(b)
	if at < 0 {
		return at
	}
	b = strconv.AppendUint(append(b, `,"flags":`...), uint64(p.Flags), 10)
	switch kind {
	case otlp.Gauge, otlp.Sum:
		b = appendSingle(b, p.Has, p.Number)
		b = append(b, noCount+noBuckets+noExponential+noQuantiles...)
	case otlp.Histogram:
		b = p.appendCount(append(b, noValue...))
		if b, at = p.appendBuckets(b); at >= 0 {
			b = append(b, noExponential+noQuantiles...)
		}
	case otlp.ExponentialHistogram:
		b = p.appendCount(append(b, noValue...))
		if b, at = p.appendExponential(append(b, noBuckets...)); at >= 0 {
			b = append(b, noQuantiles...)
		}
	default:
		p.Has = otlp.HasSum
		b = p.appendCount(append(b, noValue...))
		b, at = p.appendQuantiles(append(b, noBuckets+noExponential...))
	}
	if at < 0 {
		return at
	}
	if b, at = x.exemplars.append(append(b, `,"exemplars":[`...), out, appendExemplar); at < 0 {
		return at
	}
	if out.buf = append(b, ']'); !utf8.Valid(out.buf[from:]) {
		out.mend(from)
	}
	x.rest(out, ts)
	return 0
}
