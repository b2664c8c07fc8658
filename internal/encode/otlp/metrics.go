package otlp

// Field numbers of a Metric's kinds of data.
const (
	Gauge                = 5
	Sum                  = 7
	Histogram            = 9
	ExponentialHistogram = 10
	Summary              = 11
)

// Metric is a decoded Metric message without its metadata. Of several kinds of
// data in it the last counts.
type Metric struct {
	Name, Description, Unit []byte
	Kind                    uint64 // the field number of its data, or 0
	Data                    []byte
	Metadata                bool // it has some

	// Of the data.
	Has                    uint8
	AggregationTemporality int32
	IsMonotonic            bool
}

// metricData are the fields of a Metric that hold data points.
const metricData = 1<<Gauge | 1<<Sum | 1<<Histogram | 1<<ExponentialHistogram | 1<<Summary

const knownMetricFields = 1<<1 | 1<<2 | 1<<3 | 1<<12 | metricData

// ParseMetric decodes a Metric message. The second result is a fault if the
// message is malformed.
func ParseMetric(b []byte) (m Metric, i int) {
	for i < len(b) {
		var tag uint64
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|2:
			m.Name, i = Bytes(b, i)
		case tag == 2<<3|2:
			m.Description, i = Bytes(b, i)
		case tag == 3<<3|2:
			m.Unit, i = Bytes(b, i)
		case tag == MetricMetadata<<3|2:
			m.Metadata = true
			_, i = Bytes(b, i)
		case tag&7 == 2 && tag>>3 < 64 && metricData>>(tag>>3)&1 != 0:
			m.Kind = tag >> 3
			m.Data, i = Bytes(b, i)
		default:
			i = Skip(b, i, tag, knownMetricFields)
		}
		if i < 0 {
			return m, i
		}
	}
	if at := m.parseData(); at < 0 {
		return m, at
	}
	return m, i
}

// parseData decodes what the data have beside their points.
func (m *Metric) parseData() (i int) {
	known := uint64(1 << 1)
	switch m.Kind {
	case Sum:
		known = 1<<1 | 1<<2 | 1<<3
		m.Has = HasAggregationTemporality | HasIsMonotonic
	case Histogram, ExponentialHistogram:
		known = 1<<1 | 1<<2
		m.Has = HasAggregationTemporality
	}
	for b := m.Data; i < len(b); {
		var tag, n uint64
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|2:
			_, i = Bytes(b, i)
		case tag == 2<<3|0 && known&(1<<2) != 0:
			n, i = Uvarint(b, i)
			m.AggregationTemporality = int32(n)
		case tag == 3<<3|0 && known&(1<<3) != 0:
			n, i = Uvarint(b, i)
			m.IsMonotonic = n != 0
		default:
			i = Skip(b, i, tag, known)
		}
		if i < 0 {
			return i
		}
	}
	return i
}

// Points walks the data points of a metric.
type Points struct {
	Point []byte
	b     []byte
	i     int
}

// Points starts a walk over the metric's data points, which ParseMetric has
// checked the bounds of.
func (m *Metric) Points() Points { return Points{b: m.Data} }

// Next moves to the next data point; see Groups.Next.
func (p *Points) Next() bool {
	for p.i >= 0 && p.i < len(p.b) {
		var tag uint64
		if tag, p.i = Uvarint(p.b, p.i); p.i < 0 {
			return false
		}
		if tag == 1<<3|2 {
			p.Point, p.i = Bytes(p.b, p.i)
			return p.i >= 0
		}
		p.i = Skip(p.b, p.i, tag, 0)
	}
	return false
}

// Err returns why the walk ended early, or nil.
func (p *Points) Err() error { return Fault(p.i) }
