package otlp

// metricData are the fields of a Metric that hold data points: gauge, sum,
// histogram, exponential histogram, summary.
const metricData = 1<<5 | 1<<7 | 1<<9 | 1<<10 | 1<<11

// Point is a decoded data point of any kind. Doubles are kept as their bits.
type Point struct {
	Kind                 uint64 // of the metric's data: the number of its field
	Start, Time          uint64 // nanoseconds since the epoch
	Flags                uint32
	Has                  uint8 // of the fields below
	Number               uint64
	Count                uint64
	Sum, Min, Max        uint64
	Scale                int32
	ZeroCount, Zero      uint64
	Positive, Negative   Buckets
	BucketCounts, Bounds Fixed64s
}

// PointSink is AttributeSink for what the message of a data point has several of.
type PointSink interface {
	AttributeSink
	Exemplar(message []byte) int
	Quantile(message []byte) int
}

// What a Point has.
const (
	HasDouble = 1 << iota
	HasInt
	HasSum
	HasMin
	HasMax
)

// reset empties the point, and keeps its memory.
func (p *Point) reset() {
	*p = Point{
		Positive: Buckets{Counts: p.Positive.Counts[:0]}, Negative: Buckets{Counts: p.Negative.Counts[:0]},
		BucketCounts: p.BucketCounts[:0], Bounds: p.Bounds[:0],
	}
}

// lists are the parts of messages that the point keeps.
func (p *Point) lists() [4][][]byte {
	return [...][][]byte{p.Positive.Counts, p.Negative.Counts, p.BucketCounts, p.Bounds}
}

// Release lets go of what was decoded, and keeps the memory for more.
func (p *Point) Release() {
	for _, l := range p.lists() {
		clear(l[:cap(l)])
	}
	p.reset()
}

// Held returns how many bytes of memory it keeps.
func (p *Point) Held() (n int) {
	for _, l := range p.lists() {
		n += 24 * cap(l)
	}
	return n
}

// Nanos returns the time of the point; 0 is none.
func (p *Point) Nanos() uint64 { return p.Time }

// Parse is Log.Parse for a data point of a kind, in place of what was decoded
// before.
func (p *Point) Parse(kind uint64, b []byte, sink PointSink) (i int) {
	p.reset()
	p.Kind = kind
	switch kind {
	case Gauge, Sum:
		return p.parseNumber(b, sink)
	case Histogram:
		return p.parseHistogram(b, sink)
	case ExponentialHistogram:
		return p.parseExponential(b, sink)
	}
	p.Has = HasSum
	return p.parseSummary(b, sink)
}

func (p *Point) parseNumber(b []byte, sink PointSink) (i int) {
	for i < len(b) {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		var m []byte
		switch tag {
		case 2<<3 | 1:
			p.Start, i = Fixed64(b, i)
		case 3<<3 | 1:
			p.Time, i = Fixed64(b, i)
		case 4<<3 | 1:
			p.Has = HasDouble
			p.Number, i = Fixed64(b, i)
		case 5<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Exemplar(m); at < 0 {
				return at
			}
		case 6<<3 | 1:
			p.Has = HasInt
			p.Number, i = Fixed64(b, i)
		case 7<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Attribute(m); at < 0 {
				return at
			}
		case 8<<3 | 0:
			i = p.flags(b, i)
		default:
			i = Skip(b, i, tag, 1<<9-1<<2)
		}
		if i < 0 {
			return i
		}
	}
	return i
}

func (p *Point) parseHistogram(b []byte, sink PointSink) (i int) {
	for i < len(b) {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		var m []byte
		switch tag {
		case 2<<3 | 1:
			p.Start, i = Fixed64(b, i)
		case 3<<3 | 1:
			p.Time, i = Fixed64(b, i)
		case 4<<3 | 1:
			p.Count, i = Fixed64(b, i)
		case 5<<3 | 1:
			p.Has |= HasSum
			p.Sum, i = Fixed64(b, i)
		case 6<<3 | 1, 6<<3 | 2:
			i = p.BucketCounts.add(tag, b, i)
		case 7<<3 | 1, 7<<3 | 2:
			i = p.Bounds.add(tag, b, i)
		case 8<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Exemplar(m); at < 0 {
				return at
			}
		case 9<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Attribute(m); at < 0 {
				return at
			}
		case 10<<3 | 0:
			i = p.flags(b, i)
		case 11<<3 | 1:
			p.Has |= HasMin
			p.Min, i = Fixed64(b, i)
		case 12<<3 | 1:
			p.Has |= HasMax
			p.Max, i = Fixed64(b, i)
		default:
			i = Skip(b, i, tag, 1<<13-1<<2)
		}
		if i < 0 {
			return i
		}
	}
	return i
}

func (p *Point) parseExponential(b []byte, sink PointSink) (i int) {
	var positive, negative []byte
	for i < len(b) {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		var n uint64
		var m []byte
		switch tag {
		case 1<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Attribute(m); at < 0 {
				return at
			}
		case 2<<3 | 1:
			p.Start, i = Fixed64(b, i)
		case 3<<3 | 1:
			p.Time, i = Fixed64(b, i)
		case 4<<3 | 1:
			p.Count, i = Fixed64(b, i)
		case 5<<3 | 1:
			p.Has |= HasSum
			p.Sum, i = Fixed64(b, i)
		case 6<<3 | 0:
			n, i = Uvarint(b, i)
			p.Scale = zigzag32(n)
		case 7<<3 | 1:
			p.ZeroCount, i = Fixed64(b, i)
		case 8<<3 | 2:
			m, i = Bytes(b, i)
			positive = Merge(positive, m)
		case 9<<3 | 2:
			m, i = Bytes(b, i)
			negative = Merge(negative, m)
		case 10<<3 | 0:
			i = p.flags(b, i)
		case 11<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Exemplar(m); at < 0 {
				return at
			}
		case 12<<3 | 1:
			p.Has |= HasMin
			p.Min, i = Fixed64(b, i)
		case 13<<3 | 1:
			p.Has |= HasMax
			p.Max, i = Fixed64(b, i)
		case 14<<3 | 1:
			p.Zero, i = Fixed64(b, i)
		default:
			i = Skip(b, i, tag, 1<<15-1<<1)
		}
		if i < 0 {
			return i
		}
	}
	if at := p.Positive.parse(positive); at < 0 {
		return at
	}
	return p.Negative.parse(negative)
}

func (p *Point) parseSummary(b []byte, sink PointSink) (i int) {
	for i < len(b) {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		var m []byte
		switch tag {
		case 2<<3 | 1:
			p.Start, i = Fixed64(b, i)
		case 3<<3 | 1:
			p.Time, i = Fixed64(b, i)
		case 4<<3 | 1:
			p.Count, i = Fixed64(b, i)
		case 5<<3 | 1:
			p.Sum, i = Fixed64(b, i)
		case 6<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Quantile(m); at < 0 {
				return at
			}
		case 7<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Attribute(m); at < 0 {
				return at
			}
		case 8<<3 | 0:
			i = p.flags(b, i)
		default:
			i = Skip(b, i, tag, 1<<9-1<<2)
		}
		if i < 0 {
			return i
		}
	}
	return i
}

func (p *Point) flags(b []byte, i int) int {
	n, i := Uvarint(b, i)
	p.Flags = uint32(n)
	return i
}
