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
func appendCount(b []byte, p *otlp.Point) []byte {
	b = strconv.AppendInt(append(b, `,"count":`...), int64(p.Count), 10)
	b = appendOptional(append(b, `,"sum":`...), p.Has&otlp.HasSum != 0, p.Sum)
	b = appendOptional(append(b, `,"min":`...), p.Has&otlp.HasMin != 0, p.Min)
	return appendOptional(append(b, `,"max":`...), p.Has&otlp.HasMax != 0, p.Max)
}

// appendBuckets appends the fields bucket_counts and explicit_bounds.
func appendBuckets(b []byte, p *otlp.Point) []byte {
	b = append(b, `,"bucket_counts":[`...)
	from := len(b)
	for n := range p.BucketCounts.All() {
		b = strconv.AppendInt(comma(b, from), int64(n), 10)
	}
	b = append(b, `],"explicit_bounds":[`...)
	from = len(b)
	for n := range p.Bounds.All() {
		b = otlp.AppendDouble(comma(b, from), math.Float64frombits(n))
	}
	return append(b, ']')
}

// comma appends a comma, unless nothing was appended since from.
func comma(b []byte, from int) []byte {
	if len(b) > from {
		b = append(b, ',')
	}
	return b
}

// appendExponential appends the fields scale to negative_bucket_counts.
func appendExponential(b []byte, p *otlp.Point) []byte {
	b = strconv.AppendInt(append(b, `,"scale":`...), int64(p.Scale), 10)
	b = strconv.AppendInt(append(b, `,"zero_count":`...), int64(p.ZeroCount), 10)
	b = otlp.AppendDouble(append(b, `,"zero_threshold":`...), math.Float64frombits(p.Zero))
	b = strconv.AppendInt(append(b, `,"positive_offset":`...), int64(p.Positive.Offset), 10)
	b = appendVarints(append(b, `,"positive_bucket_counts":[`...), p.Positive.Counts)
	b = strconv.AppendInt(append(b, `],"negative_offset":`...), int64(p.Negative.Offset), 10)
	b = appendVarints(append(b, `,"negative_bucket_counts":[`...), p.Negative.Counts)
	return append(b, ']')
}

func appendVarints(b []byte, numbers otlp.Varints) []byte {
	from := len(b)
	for n := range numbers.All() {
		b = strconv.AppendInt(comma(b, from), int64(n), 10)
	}
	return b
}

// appendQuantiles appends the field quantiles. The second result is a fault if
// one is malformed.
func appendQuantiles(b []byte, messages [][]byte) ([]byte, int) {
	b, at := appendList(append(b, `,"quantiles":[`...), messages, func(b, m []byte) ([]byte, int) {
		var q otlp.Quantile
		if at := q.Parse(m); at < 0 {
			return b, at
		}
		b = otlp.AppendDouble(append(b, `{"quantile":`...), math.Float64frombits(q.Quantile))
		b = otlp.AppendDouble(append(b, `,"value":`...), math.Float64frombits(q.Value))
		return append(b, '}'), 0
	})
	return append(b, ']'), at
}
