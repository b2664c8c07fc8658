package jsonl

import "github.com/s3window/s3window/internal/encode/otlp"

// metrics makes the lines of data points of any kind.
type metrics struct {
	runs
	pointLines
	metric shared // what the points of a metric have in common
	point  otlp.Point
}

func newMetrics(columns []Column) *metrics {
	x := &metrics{runs: newRuns(columns), pointLines: newPointLines(columns)}
	x.item = x.points
	return x
}

func (x *metrics) held() int {
	return x.runs.held() + x.pointLines.held() + x.metric.held() + x.point.Held()
}

// group implements rows.
func (x *metrics) group(out *lines, g *otlp.Group) error {
	defer x.pointLines.release()
	defer x.point.Release()
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
		x.begin()
		if at := x.point.Parse(m.Kind, points.Point, &x.pointLines); at < 0 {
			return otlp.Fault(at)
		}
		if at := x.append(out, &x.point, x.service, x.metric.fields); at < 0 {
			return otlp.Fault(at)
		}
		x.rest(out, x.attributes.columns)
	}
	return points.Err()
}

// putMetric makes the fields of the metric m, whose message is b.
func (x *metrics) putMetric(out *lines, m *otlp.Metric, b []byte) error {
	s := &x.metric
	s.begin()
	kvs := otlp.NewAttributes(b, otlp.MetricMetadata)
	if at := kvs.Each(s); at < 0 {
		return otlp.Fault(at)
	}
	s.appendMetric(m)
	s.end(out)
	return nil
}
