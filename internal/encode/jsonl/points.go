package jsonl

import "github.com/s3window/s3window/internal/encode/otlp"

// point is the fields of a data point of any kind but for its attributes and
// exemplars. Doubles are kept as their bits, lists as the pieces of the message
// that have their numbers.
type point struct {
	start, time        uint64
	flags              uint32
	has                uint8 // of the fields below
	number             uint64
	count              uint64
	sum, low, high     uint64
	scale              int32
	zeroCount, zero    uint64
	positive, negative []byte
	buckets, bounds    [][]byte
	quantiles          [][]byte
}

// What a point has.
const (
	hasDouble = 1 << iota
	hasInt
	hasSum
	hasMin
	hasMax
)

func (p *point) held() int { return 24 * (cap(p.buckets) + cap(p.bounds) + cap(p.quantiles)) }

// begin makes ready for the next point.
func (p *point) begin() {
	*p = point{buckets: p.buckets[:0], bounds: p.bounds[:0], quantiles: p.quantiles[:0]}
}

// release lets go of the payload.
func (p *point) release() {
	p.begin()
	clear(p.buckets[:cap(p.buckets)])
	clear(p.bounds[:cap(p.bounds)])
	clear(p.quantiles[:cap(p.quantiles)])
}

// parse decodes a data point, but for its attributes and exemplars, which it
// collects.
func (x *metrics) parse(kind uint64, b []byte) int {
	p := &x.point
	for i := 0; i < len(b); {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = otlp.Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		switch {
		case tag == 2<<3|1:
			p.start, i = otlp.Fixed64(b, i)
		case tag == 3<<3|1:
			p.time, i = otlp.Fixed64(b, i)
		case kind == otlp.Gauge || kind == otlp.Sum:
			i = x.numberField(tag, b, i)
		case kind == otlp.Histogram:
			i = x.histogramField(tag, b, i)
		case kind == otlp.ExponentialHistogram:
			i = x.exponentialField(tag, b, i)
		default:
			i = x.summaryField(tag, b, i)
		}
		if i < 0 {
			return i
		}
	}
	return 0
}

func (x *metrics) numberField(tag uint64, b []byte, i int) int {
	p := &x.point
	switch tag {
	case 4<<3 | 1:
		p.has = hasDouble
		p.number, i = otlp.Fixed64(b, i)
	case 5<<3 | 2:
		i = x.exemplars.collect(b, i)
	case 6<<3 | 1:
		p.has = hasInt
		p.number, i = otlp.Fixed64(b, i)
	case 7<<3 | 2:
		i = x.attributes.collect(b, i)
	case 8<<3 | 0:
		i = p.flagsField(b, i)
	default:
		i = otlp.Skip(b, i, tag, 1<<9-1<<2)
	}
	return i
}

func (x *metrics) histogramField(tag uint64, b []byte, i int) int {
	p := &x.point
	switch tag {
	case 4<<3 | 1:
		p.count, i = otlp.Fixed64(b, i)
	case 5<<3 | 1:
		p.has |= hasSum
		p.sum, i = otlp.Fixed64(b, i)
	case 6<<3 | 1, 6<<3 | 2:
		i = collectFixed(&p.buckets, tag, b, i)
	case 7<<3 | 1, 7<<3 | 2:
		i = collectFixed(&p.bounds, tag, b, i)
	case 8<<3 | 2:
		i = x.exemplars.collect(b, i)
	case 9<<3 | 2:
		i = x.attributes.collect(b, i)
	case 10<<3 | 0:
		i = p.flagsField(b, i)
	case 11<<3 | 1:
		p.has |= hasMin
		p.low, i = otlp.Fixed64(b, i)
	case 12<<3 | 1:
		p.has |= hasMax
		p.high, i = otlp.Fixed64(b, i)
	default:
		i = otlp.Skip(b, i, tag, 1<<13-1<<2)
	}
	return i
}

func (x *metrics) exponentialField(tag uint64, b []byte, i int) int {
	p := &x.point
	var m []byte
	var n uint64
	switch tag {
	case 1<<3 | 2:
		i = x.attributes.collect(b, i)
	case 4<<3 | 1:
		p.count, i = otlp.Fixed64(b, i)
	case 5<<3 | 1:
		p.has |= hasSum
		p.sum, i = otlp.Fixed64(b, i)
	case 6<<3 | 0:
		n, i = otlp.Uvarint(b, i)
		p.scale = otlp.Zigzag32(n)
	case 7<<3 | 1:
		p.zeroCount, i = otlp.Fixed64(b, i)
	case 8<<3 | 2:
		m, i = otlp.Bytes(b, i)
		p.positive = otlp.Merge(p.positive, m)
	case 9<<3 | 2:
		m, i = otlp.Bytes(b, i)
		p.negative = otlp.Merge(p.negative, m)
	case 10<<3 | 0:
		i = p.flagsField(b, i)
	case 11<<3 | 2:
		i = x.exemplars.collect(b, i)
	case 12<<3 | 1:
		p.has |= hasMin
		p.low, i = otlp.Fixed64(b, i)
	case 13<<3 | 1:
		p.has |= hasMax
		p.high, i = otlp.Fixed64(b, i)
	case 14<<3 | 1:
		p.zero, i = otlp.Fixed64(b, i)
	default:
		i = otlp.Skip(b, i, tag, 1<<15-1<<1)
	}
	return i
}

func (x *metrics) summaryField(tag uint64, b []byte, i int) int {
	p := &x.point
	switch tag {
	case 4<<3 | 1:
		p.count, i = otlp.Fixed64(b, i)
	case 5<<3 | 1:
		p.sum, i = otlp.Fixed64(b, i)
	case 6<<3 | 2:
		i = collectBytes(&p.quantiles, b, i)
	case 7<<3 | 2:
		i = x.attributes.collect(b, i)
	case 8<<3 | 0:
		i = p.flagsField(b, i)
	default:
		i = otlp.Skip(b, i, tag, 1<<9-1<<2)
	}
	return i
}

func (p *point) flagsField(b []byte, i int) int {
	n, i := otlp.Uvarint(b, i)
	p.flags = uint32(n)
	return i
}

// collectBytes takes the message that stands at b[i:].
func collectBytes(to *[][]byte, b []byte, i int) int {
	m, i := otlp.Bytes(b, i)
	if i >= 0 {
		*to = append(*to, m)
	}
	return i
}

// collectFixed takes numbers of eight bytes of a repeated field, packed or one.
func collectFixed(to *[][]byte, tag uint64, b []byte, i int) int {
	if tag&7 == 2 {
		return collectBytes(to, b, i)
	}
	_, end := otlp.Fixed64(b, i)
	if end >= 0 {
		*to = append(*to, b[i:end])
	}
	return end
}
