package encode

import "github.com/s3window/s3window/internal/encode/otlp"

// point adds the row of a data point. It returns a fault if the point is
// malformed; the row group is then lost.
func (x *metrics) point(s *stager, kind uint64, b []byte, received int64) int {
	var p otlp.Point
	for i := 0; i < len(b); {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = otlp.Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		switch kind {
		case otlp.Gauge, otlp.Sum:
			i = x.numberField(&p, kind, tag, b, i)
		case otlp.Histogram:
			i = x.histogramField(&p, tag, b, i)
		case otlp.ExponentialHistogram:
			i = x.exponentialField(&p, tag, b, i)
		default:
			i = x.summaryField(&p, kind, tag, b, i)
		}
		if i < 0 {
			return i
		}
	}
	return x.put(s, kind, &p, received, len(b))
}

func (x *metrics) numberField(p *otlp.Point, kind, tag uint64, b []byte, i int) int {
	switch tag {
	case 5<<3 | 2:
		return message(b, i, x.exemplars.put)
	case 7<<3 | 2:
		return message(b, i, x.attributes.put)
	}
	return p.Field(kind, tag, b, i)
}

func (x *metrics) histogramField(p *otlp.Point, tag uint64, b []byte, i int) int {
	switch tag {
	case 6<<3 | 1, 6<<3 | 2:
		return fixedList(tag, b, i, x.bucketCounts.Add)
	case 7<<3 | 1, 7<<3 | 2:
		return fixedList(tag, b, i, x.bounds.Add)
	case 8<<3 | 2:
		return message(b, i, x.exemplars.put)
	case 9<<3 | 2:
		return message(b, i, x.attributes.put)
	}
	return p.Field(otlp.Histogram, tag, b, i)
}

func (x *metrics) exponentialField(p *otlp.Point, tag uint64, b []byte, i int) int {
	switch tag {
	case 1<<3 | 2:
		return message(b, i, x.attributes.put)
	case 11<<3 | 2:
		return message(b, i, x.exemplars.put)
	}
	return p.Field(otlp.ExponentialHistogram, tag, b, i)
}

func (x *metrics) summaryField(p *otlp.Point, kind, tag uint64, b []byte, i int) int {
	switch tag {
	case 6<<3 | 2:
		return message(b, i, x.putQuantile)
	case 7<<3 | 2:
		return message(b, i, x.attributes.put)
	}
	return p.Field(kind, tag, b, i)
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
