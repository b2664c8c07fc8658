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
	record        otlp.Point
	exemplars     otlp.Messages // of the next line
	quantiles     otlp.Messages
	ofExemplar    attributes
	starts        stamp // which lie in another second than the points' times
}

func newMetrics(columns []Column) *metrics {
	x := &metrics{
		runs: newRuns(columns), ofExemplar: newAttributes(nil), temporalities: otlp.Temporalities(),
		metric: shared{field: otlp.MetricMetadata, prefix: "metric", object: "_metadata"},
	}
	x.item = x.points
	return x
}

func (x *metrics) held() int {
	return x.runs.held() + x.metric.held() + x.record.Held() + x.exemplars.Held() + x.quantiles.Held() + x.ofExemplar.held()
}

// group implements rows.
func (x *metrics) group(out *lines, g *otlp.Group) error {
	defer x.release()
	return x.runs.group(out, g)
}

func (x *metrics) release() {
	x.record.Release()
	for _, m := range []*otlp.Messages{&x.exemplars, &x.quantiles, &x.ofExemplar.sent} {
		m.Release()
	}
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
		x.exemplars, x.quantiles = x.exemplars[:0], x.quantiles[:0]
		if at := x.record.Parse(m.Kind, points.Point, x); at < 0 {
			return otlp.Fault(at)
		}
		if at := x.line(out); at < 0 {
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
func (x *metrics) line(out *lines) int {
	p := &x.record
	b, ts := out.begin(p.Nanos())
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
	switch p.Kind {
	case otlp.Gauge, otlp.Sum:
		b = appendSingle(b, p.Has, p.Number)
		b = append(b, noCount+noBuckets+noExponential+noQuantiles...)
	case otlp.Histogram:
		b = appendBuckets(appendCount(append(b, noValue...), p), p)
		b = append(b, noExponential+noQuantiles...)
	case otlp.ExponentialHistogram:
		b = appendCount(append(b, noValue...), p)
		b = append(appendExponential(append(b, noBuckets...), p), noQuantiles...)
	default:
		b = appendCount(append(b, noValue...), p)
		b, at = appendQuantiles(append(b, noBuckets+noExponential...), x.quantiles)
	}
	if at < 0 {
		return at
	}
	b, at = appendList(append(b, `,"exemplars":[`...), x.exemplars, func(b, m []byte) ([]byte, int) { return x.appendExemplar(b, out, m) })
	if at < 0 {
		return at
	}
	if out.buf = append(b, ']'); !utf8.Valid(out.buf[from:]) {
		out.mend(from)
	}
	x.rest(out, ts)
	return 0
}

// These implement otlp.PointSink.
func (x *metrics) Attribute(kv []byte) int     { return x.attributes.Attribute(kv) }
func (x *metrics) Exemplar(message []byte) int { return x.exemplars.Add(message) }
func (x *metrics) Quantile(message []byte) int { return x.quantiles.Add(message) }

// appendExemplar appends an Exemplar message.
func (x *metrics) appendExemplar(b []byte, out *lines, m []byte) ([]byte, int) {
	x.ofExemplar.begin()
	var e otlp.Exemplar
	if at := e.Parse(m, &x.ofExemplar); at < 0 {
		return b, at
	}
	b = out.stamp.appendNanos(append(b, `{"time_unix_nano":`...), e.Time)
	b = appendSingle(b, e.Has, e.Number)
	b = appendHex(append(b, `,"trace_id":"`...), e.TraceID)
	b = appendHex(append(b, `","span_id":"`...), e.SpanID)
	b, at := x.ofExemplar.append(append(b, '"'))
	return append(b, '}'), at
}
