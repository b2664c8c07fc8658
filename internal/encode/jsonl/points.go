package jsonl

import "github.com/s3window/s3window/internal/encode/otlp"

// point is a data point but for its attributes and exemplars, with its lists as
// the pieces of the message that have their numbers.
type point struct {
	otlp.Point
	buckets, bounds [][]byte
	quantiles       [][]byte
}

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
	for i := 0; i < len(b); {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = otlp.Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		switch kind {
		case otlp.Gauge, otlp.Sum:
			i = x.numberField(kind, tag, b, i)
		case otlp.Histogram:
			i = x.histogramField(tag, b, i)
		case otlp.ExponentialHistogram:
			i = x.exponentialField(tag, b, i)
		default:
			i = x.summaryField(kind, tag, b, i)
		}
		if i < 0 {
			return i
		}
	}
	return 0
}

func (x *metrics) numberField(kind, tag uint64, b []byte, i int) int {
	switch tag {
	case 5<<3 | 2:
		return x.exemplars.collect(b, i)
	case 7<<3 | 2:
		return x.attributes.collect(b, i)
	}
	return x.point.Field(kind, tag, b, i)
}

func (x *metrics) histogramField(tag uint64, b []byte, i int) int {
	switch tag {
	case 6<<3 | 1, 6<<3 | 2:
		return collectFixed(&x.point.buckets, tag, b, i)
	case 7<<3 | 1, 7<<3 | 2:
		return collectFixed(&x.point.bounds, tag, b, i)
	case 8<<3 | 2:
		return x.exemplars.collect(b, i)
	case 9<<3 | 2:
		return x.attributes.collect(b, i)
	}
	return x.point.Field(otlp.Histogram, tag, b, i)
}

func (x *metrics) exponentialField(tag uint64, b []byte, i int) int {
	switch tag {
	case 1<<3 | 2:
		return x.attributes.collect(b, i)
	case 11<<3 | 2:
		return x.exemplars.collect(b, i)
	}
	return x.point.Field(otlp.ExponentialHistogram, tag, b, i)
}

func (x *metrics) summaryField(kind, tag uint64, b []byte, i int) int {
	switch tag {
	case 6<<3 | 2:
		return collectBytes(&x.point.quantiles, b, i)
	case 7<<3 | 2:
		return x.attributes.collect(b, i)
	}
	return x.point.Field(kind, tag, b, i)
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
