package jsonl

import (
	"math"
	"strconv"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// appendOptional appends a double with the given bits, or null.
func appendOptional(b []byte, present bool, bits uint64) []byte {
	if !present {
		return append(b, "null"...)
	}
	return otlp.AppendDouble(b, math.Float64frombits(bits))
}

// appendSingle appends the fields value_double and value_int.
func appendSingle(b []byte, has uint8, bits uint64) []byte {
	b = appendOptional(append(b, `,"value_double":`...), has&otlp.HasDouble != 0, bits)
	b = append(b, `,"value_int":`...)
	if has&otlp.HasInt == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(bits), 10)
}

// appendCount appends the fields count to max.
func (p *point) appendCount(b []byte) []byte {
	b = strconv.AppendInt(append(b, `,"count":`...), int64(p.Count), 10)
	b = appendOptional(append(b, `,"sum":`...), p.Has&otlp.HasSum != 0, p.Sum)
	b = appendOptional(append(b, `,"min":`...), p.Has&otlp.HasMin != 0, p.Min)
	return appendOptional(append(b, `,"max":`...), p.Has&otlp.HasMax != 0, p.Max)
}

// appendBuckets appends the fields bucket_counts and explicit_bounds. The
// second result is a fault if they are malformed, as it is of what follows.
func (p *point) appendBuckets(b []byte) ([]byte, int) {
	b, at := appendFixed(append(b, `,"bucket_counts":[`...), p.buckets, func(b []byte, n uint64) []byte {
		return strconv.AppendInt(b, int64(n), 10)
	})
	if at < 0 {
		return b, at
	}
	b, at = appendFixed(append(b, `],"explicit_bounds":[`...), p.bounds, func(b []byte, n uint64) []byte {
		return otlp.AppendDouble(b, math.Float64frombits(n))
	})
	return append(b, ']'), at
}

// appendFixed appends the numbers of eight bytes that stand in pieces.
func appendFixed(b []byte, pieces [][]byte, number func([]byte, uint64) []byte) ([]byte, int) {
	from := len(b)
	for _, piece := range pieces {
		for i := 0; i < len(piece); {
			var n uint64
			if n, i = otlp.Fixed64(piece, i); i < 0 {
				return b, i
			}
			b = number(comma(b, from), n)
		}
	}
	return b, 0
}

// comma appends a comma, unless nothing was appended since from.
func comma(b []byte, from int) []byte {
	if len(b) > from {
		b = append(b, ',')
	}
	return b
}

// appendExponential appends the fields scale to negative_bucket_counts.
func (p *point) appendExponential(b []byte) ([]byte, int) {
	b = strconv.AppendInt(append(b, `,"scale":`...), int64(p.Scale), 10)
	b = strconv.AppendInt(append(b, `,"zero_count":`...), int64(p.ZeroCount), 10)
	b = otlp.AppendDouble(append(b, `,"zero_threshold":`...), math.Float64frombits(p.Zero))
	b, at := appendExponentialBuckets(append(b, `,"positive`...), `,"positive`, p.Positive)
	if at < 0 {
		return b, at
	}
	return appendExponentialBuckets(append(b, `,"negative`...), `,"negative`, p.Negative)
}

// appendExponentialBuckets appends the fields of a Buckets message, behind the
// first part of a name.
func appendExponentialBuckets(b []byte, name string, m []byte) ([]byte, int) {
	offset, at := bucketsOffset(m)
	if at < 0 {
		return b, at
	}
	b = strconv.AppendInt(append(b, `_offset":`...), int64(offset), 10)
	b = append(append(b, name...), `_bucket_counts":[`...)
	from := len(b)
	for i := 0; i < len(m); {
		var tag, n uint64
		tag, i = otlp.Uvarint(m, i)
		switch tag {
		case 2<<3 | 0:
			if n, i = otlp.Uvarint(m, i); i >= 0 {
				b = strconv.AppendInt(comma(b, from), int64(n), 10)
			}
		case 2<<3 | 2:
			var packed []byte
			if packed, i = otlp.Bytes(m, i); i >= 0 {
				b, i = appendVarints(b, from, packed, i)
			}
		default:
			i = otlp.Skip(m, i, tag, 0)
		}
		if i < 0 {
			return b, i
		}
	}
	return append(b, ']'), 0
}

// appendVarints appends the numbers of a packed field that ends at end, which
// it returns.
func appendVarints(b []byte, from int, packed []byte, end int) ([]byte, int) {
	for i := 0; i < len(packed); {
		var n uint64
		if n, i = otlp.Uvarint(packed, i); i < 0 {
			return b, i
		}
		b = strconv.AppendInt(comma(b, from), int64(n), 10)
	}
	return b, end
}

// bucketsOffset returns the offset of a Buckets message, whose other fields it
// checks but for the numbers in them.
func bucketsOffset(m []byte) (offset int32, i int) {
	for i < len(m) {
		var tag, n uint64
		tag, i = otlp.Uvarint(m, i)
		switch {
		case i < 0:
		case tag == 1<<3|0:
			n, i = otlp.Uvarint(m, i)
			offset = otlp.Zigzag32(n)
		case tag == 2<<3|0, tag == 2<<3|2:
			i = otlp.Skip(m, i, tag, 0)
		default:
			i = otlp.Skip(m, i, tag, 1<<1|1<<2)
		}
		if i < 0 {
			return 0, i
		}
	}
	return offset, i
}

// appendQuantiles appends the field quantiles.
func (p *point) appendQuantiles(b []byte) ([]byte, int) {
	b = append(b, `,"quantiles":[`...)
	from := len(b)
	for _, m := range p.quantiles {
		var quantile, value uint64
		for i := 0; i < len(m); {
			var tag uint64
			tag, i = otlp.Uvarint(m, i)
			switch {
			case i < 0:
			case tag == 1<<3|1:
				quantile, i = otlp.Fixed64(m, i)
			case tag == 2<<3|1:
				value, i = otlp.Fixed64(m, i)
			default:
				i = otlp.Skip(m, i, tag, 1<<1|1<<2)
			}
			if i < 0 {
				return b, i
			}
		}
		b = otlp.AppendDouble(append(comma(b, from), `{"quantile":`...), math.Float64frombits(quantile))
		b = otlp.AppendDouble(append(b, `,"value":`...), math.Float64frombits(value))
		b = append(b, '}')
	}
	return append(b, ']'), 0
}
