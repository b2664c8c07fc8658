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

// appendNumber appends the fields value and value_int.
func appendNumber(b []byte, has uint8, bits uint64) []byte {
	b = append(b, `,"value":`...)
	if has&otlp.HasInt == 0 {
		b = appendOptional(b, has&otlp.HasDouble != 0, bits)
		return append(b, `,"value_int":null`...)
	}
	b = otlp.AppendDouble(b, float64(int64(bits)))
	return strconv.AppendInt(append(b, `,"value_int":`...), int64(bits), 10)
}

// appendFixed64s appends the elements of an array of integers.
func appendFixed64s(b []byte, numbers otlp.Fixed64s) []byte {
	from := len(b)
	for n := range numbers.All() {
		b = strconv.AppendInt(comma(b, from), int64(n), 10)
	}
	return b
}

// appendVarints appends the elements of an array of integers.
func appendVarints(b []byte, numbers otlp.Varints) []byte {
	from := len(b)
	for n := range numbers.All() {
		b = strconv.AppendInt(comma(b, from), int64(n), 10)
	}
	return b
}

// appendDoubles appends the elements of an array of the doubles with these bits.
func appendDoubles(b []byte, numbers otlp.Fixed64s) []byte {
	from := len(b)
	for n := range numbers.All() {
		b = otlp.AppendDouble(comma(b, from), math.Float64frombits(n))
	}
	return b
}

// comma appends a comma, unless nothing was appended since from.
func comma(b []byte, from int) []byte {
	if len(b) > from {
		b = append(b, ',')
	}
	return b
}
