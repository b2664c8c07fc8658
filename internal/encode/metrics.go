package encode

import (
	"encoding/binary"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// metrics has the columns of data points, one row per point of any kind.
type metrics struct {
	runs
	pointColumns
	metric metricRuns
	point  otlp.Point
}

func newMetrics(t *parquet.Table, columns []Column) *metrics {
	x := &metrics{runs: newRuns(t), metric: metricRuns{entries: newEntries(t)}}
	x.item = x.points
	x.add(t, x.addService, func() { x.metric.add(x.metric.set) })
	x.attributes.promoted = x.columns(columns)
	return x
}

func (x *metrics) held() int {
	return x.runs.held() + x.pointColumns.held() + x.metric.known.Held() + x.point.Held()
}

func (x *metrics) reset() {
	x.runs.reset()
	x.pointColumns.reset()
	x.metric.known.Reset()
	x.metric.metadata.reset()
	x.point.Release()
}

// points adds the rows of a Metric message. A metric without data points has
// none, as it has none in OTLP's own counts.
func (x *metrics) points(s *stager, b []byte, received int64) error {
	m, at := otlp.ParseMetric(b)
	if at < 0 {
		return otlp.Fault(at)
	}
	from := x.table.Rows()
	points := m.Points()
	for points.Next() {
		if x.full() {
			if err := x.metric.repeat(&m, b, x.table.Rows()-from); err != nil {
				return err
			}
			if err := x.cut(s); err != nil {
				return err
			}
			from = 0
		}
		if at := x.row(s, m.Kind, points.Point, received); at < 0 {
			return otlp.Fault(at)
		}
	}
	if err := points.Err(); err != nil {
		return err
	}
	return x.metric.repeat(&m, b, x.table.Rows()-from)
}

// row adds the row of a data point. It returns a fault if the point is
// malformed; the row group is then lost.
func (x *metrics) row(s *stager, kind uint64, b []byte, received int64) int {
	if at := x.point.Parse(kind, b, &x.pointColumns); at < 0 {
		return at
	}
	if at := x.put(&x.point, s.time(x.point.Nanos(), received), received); at < 0 {
		return at
	}
	x.table.EndRow(len(b))
	return 0
}

// metricRuns are the columns of the points' metrics: their name, description,
// unit, metadata, kind, temporality and monotonicity.
type metricRuns struct {
	entries
	metricColumns
}

// repeat puts the columns of the metric m, whose message is b, for n rows.
func (c *metricRuns) repeat(m *otlp.Metric, b []byte, n int) error {
	if n == 0 {
		return nil
	}
	if err := c.makeKey(m, b); err != nil {
		return err
	}
	entry, added := c.known.Put(c.key)
	if added {
		kvs := otlp.NewAttributes(b, otlp.MetricMetadata)
		if at := kvs.Each(&c.metadata); at < 0 {
			return otlp.Fault(at)
		}
		c.put(m)
		entry = c.set.Commit()
	}
	c.set.Repeat(entry, n)
	return nil
}

// makeKey tells apart what must not share an entry.
func (c *metricRuns) makeKey(m *otlp.Metric, b []byte) error {
	k := append(c.key[:0], byte(m.Kind), 0)
	if m.IsMonotonic {
		k[1] = 1
	}
	k = binary.AppendUvarint(k, uint64(uint32(m.AggregationTemporality)))
	for _, s := range [...][]byte{m.Name, m.Description, m.Unit} {
		k = append(binary.AppendUvarint(k, uint64(len(s))), s...)
	}
	if m.Metadata {
		kvs := otlp.NewAttributes(b, otlp.MetricMetadata)
		for kvs.Next() {
			k = append(binary.AppendUvarint(k, uint64(len(kvs.Key))), kvs.Key...)
			k = append(binary.AppendUvarint(k, uint64(len(kvs.Value))), kvs.Value...)
		}
		if err := kvs.Err(); err != nil {
			return err
		}
	}
	c.key = k
	return nil
}
