package otlp

// metricData are the fields of a Metric that hold data points: gauge, sum,
// histogram, exponential histogram, summary.
const metricData = 1<<5 | 1<<7 | 1<<9 | 1<<10 | 1<<11

// Point is the fields of a data point of any kind but for its lists, exemplars
// and attributes. Doubles are kept as their bits.
type Point struct {
	Start, Time        uint64 // nanoseconds since the epoch
	Flags              uint32
	Has                uint8 // of the fields below
	Number             uint64
	Count              uint64
	Sum, Min, Max      uint64
	Scale              int32
	ZeroCount, Zero    uint64
	Positive, Negative []byte // Buckets messages
}

// What a Point has.
const (
	HasDouble = 1 << iota
	HasInt
	HasSum
	HasMin
	HasMax
)

// Field decodes the field of a point of a kind of data whose tag stands before
// b[i:], other than a list, exemplar or attribute, which the caller takes
// itself. It returns the index after it, or a fault.
func (p *Point) Field(kind, tag uint64, b []byte, i int) int {
	switch tag {
	case 2<<3 | 1:
		p.Start, i = Fixed64(b, i)
		return i
	case 3<<3 | 1:
		p.Time, i = Fixed64(b, i)
		return i
	}
	switch kind {
	case Gauge, Sum:
		return p.numberField(tag, b, i)
	case Histogram:
		return p.histogramField(tag, b, i)
	case ExponentialHistogram:
		return p.exponentialField(tag, b, i)
	}
	return p.summaryField(tag, b, i)
}

func (p *Point) numberField(tag uint64, b []byte, i int) int {
	switch tag {
	case 4<<3 | 1:
		p.Has = HasDouble
		p.Number, i = Fixed64(b, i)
	case 6<<3 | 1:
		p.Has = HasInt
		p.Number, i = Fixed64(b, i)
	case 8<<3 | 0:
		i = p.flagsField(b, i)
	default:
		i = Skip(b, i, tag, 1<<9-1<<2)
	}
	return i
}

func (p *Point) histogramField(tag uint64, b []byte, i int) int {
	switch tag {
	case 4<<3 | 1:
		p.Count, i = Fixed64(b, i)
	case 5<<3 | 1:
		p.Has |= HasSum
		p.Sum, i = Fixed64(b, i)
	case 10<<3 | 0:
		i = p.flagsField(b, i)
	case 11<<3 | 1:
		p.Has |= HasMin
		p.Min, i = Fixed64(b, i)
	case 12<<3 | 1:
		p.Has |= HasMax
		p.Max, i = Fixed64(b, i)
	default:
		i = Skip(b, i, tag, 1<<13-1<<2)
	}
	return i
}

func (p *Point) exponentialField(tag uint64, b []byte, i int) int {
	var m []byte
	var n uint64
	switch tag {
	case 4<<3 | 1:
		p.Count, i = Fixed64(b, i)
	case 5<<3 | 1:
		p.Has |= HasSum
		p.Sum, i = Fixed64(b, i)
	case 6<<3 | 0:
		n, i = Uvarint(b, i)
		p.Scale = Zigzag32(n)
	case 7<<3 | 1:
		p.ZeroCount, i = Fixed64(b, i)
	case 8<<3 | 2:
		m, i = Bytes(b, i)
		p.Positive = Merge(p.Positive, m)
	case 9<<3 | 2:
		m, i = Bytes(b, i)
		p.Negative = Merge(p.Negative, m)
	case 10<<3 | 0:
		i = p.flagsField(b, i)
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
	return i
}

func (p *Point) summaryField(tag uint64, b []byte, i int) int {
	switch tag {
	case 4<<3 | 1:
		p.Count, i = Fixed64(b, i)
	case 5<<3 | 1:
		p.Sum, i = Fixed64(b, i)
	case 8<<3 | 0:
		i = p.flagsField(b, i)
	default:
		i = Skip(b, i, tag, 1<<9-1<<2)
	}
	return i
}

func (p *Point) flagsField(b []byte, i int) int {
	n, i := Uvarint(b, i)
	p.Flags = uint32(n)
	return i
}
