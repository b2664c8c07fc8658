package encode

import "github.com/s3window/s3window/internal/encode/otlp"

// point is the fields of a data point of any kind but for its lists and
// attributes. Doubles are kept as their bits.
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
}

// What a point has.
const (
	hasDouble = 1 << iota
	hasInt
	hasSum
	hasMin
	hasMax
)

// point adds the row of a data point. It returns a fault if the point is
// malformed; the row group is then lost.
func (x *metrics) point(s *stager, kind uint64, b []byte, received int64) int {
	var p point
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
			i = x.numberField(&p, tag, b, i)
		case kind == otlp.Histogram:
			i = x.histogramField(&p, tag, b, i)
		case kind == otlp.ExponentialHistogram:
			i = x.exponentialField(&p, tag, b, i)
		default:
			i = x.summaryField(&p, tag, b, i)
		}
		if i < 0 {
			return i
		}
	}
	return x.put(s, kind, &p, received, len(b))
}

func (x *metrics) numberField(p *point, tag uint64, b []byte, i int) int {
	switch tag {
	case 4<<3 | 1:
		p.has = hasDouble
		p.number, i = otlp.Fixed64(b, i)
	case 5<<3 | 2:
		return message(b, i, x.exemplars.put)
	case 6<<3 | 1:
		p.has = hasInt
		p.number, i = otlp.Fixed64(b, i)
	case 7<<3 | 2:
		return message(b, i, x.attributes.put)
	case 8<<3 | 0:
		return p.flagsField(b, i)
	default:
		i = otlp.Skip(b, i, tag, 1<<9-1<<2)
	}
	return i
}

func (x *metrics) histogramField(p *point, tag uint64, b []byte, i int) int {
	switch tag {
	case 4<<3 | 1:
		p.count, i = otlp.Fixed64(b, i)
	case 5<<3 | 1:
		p.has |= hasSum
		p.sum, i = otlp.Fixed64(b, i)
	case 6<<3 | 1, 6<<3 | 2:
		return fixedList(tag, b, i, x.bucketCounts.Add)
	case 7<<3 | 1, 7<<3 | 2:
		return fixedList(tag, b, i, x.bounds.Add)
	case 8<<3 | 2:
		return message(b, i, x.exemplars.put)
	case 9<<3 | 2:
		return message(b, i, x.attributes.put)
	case 10<<3 | 0:
		return p.flagsField(b, i)
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

func (x *metrics) exponentialField(p *point, tag uint64, b []byte, i int) int {
	var m []byte
	var n uint64
	switch tag {
	case 1<<3 | 2:
		return message(b, i, x.attributes.put)
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
		return p.flagsField(b, i)
	case 11<<3 | 2:
		return message(b, i, x.exemplars.put)
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

func (x *metrics) summaryField(p *point, tag uint64, b []byte, i int) int {
	switch tag {
	case 4<<3 | 1:
		p.count, i = otlp.Fixed64(b, i)
	case 5<<3 | 1:
		p.sum, i = otlp.Fixed64(b, i)
	case 6<<3 | 2:
		return message(b, i, x.putQuantile)
	case 7<<3 | 2:
		return message(b, i, x.attributes.put)
	case 8<<3 | 0:
		return p.flagsField(b, i)
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

// message has put take the message at b[i:].
func message(b []byte, i int, put func([]byte) int) int {
	m, i := otlp.Bytes(b, i)
	if i < 0 {
		return i
	}
	if at := put(m); at < 0 {
		return at
	}
	return i
}

// fixedList has add take the numbers of eight bytes of a repeated field,
// packed or one by one.
func fixedList(tag uint64, b []byte, i int, add func(int64)) int {
	if tag&7 == 1 {
		n, i := otlp.Fixed64(b, i)
		if i >= 0 {
			add(int64(n))
		}
		return i
	}
	packed, i := otlp.Bytes(b, i)
	if i < 0 {
		return i
	}
	for k := 0; k < len(packed); {
		var n uint64
		if n, k = otlp.Fixed64(packed, k); k < 0 {
			return k
		}
		add(int64(n))
	}
	return i
}
