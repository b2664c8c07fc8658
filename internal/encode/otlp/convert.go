package otlp

import (
	"math"
	"strconv"
)

// As returns v as a value of a kind, if it can be one exactly: text that is a
// number or a boolean as JSON has them, and an integer that a double holds. A
// double takes the nearest value of its text.
func (v Value) As(kind Kind) (Value, bool) {
	switch {
	case v.Kind == kind:
		return v, true
	case v.Kind == Int && kind == Double:
		f := float64(v.Int())
		// 2^63 is a double, but no int64.
		exact := f < 1<<63 && int64(f) == v.Int()
		return Value{Kind: Double, bits: math.Float64bits(f)}, exact
	case v.Kind == String:
		return convert(v.Raw, kind)
	}
	return Value{}, false
}

// FromText returns a string, or an integer of its decimal form; of another kind, or
// if it is malformed, an absent value.
func FromText(kind Kind, text []byte) Value {
	switch kind {
	case String:
		return Value{Kind: String, Raw: text}
	case Int:
		if v, ok := convert(text, Int); ok {
			return v
		}
	}
	return Value{Kind: Null}
}

// longestNumber bounds the text of a number that is looked at.
const longestNumber = 32

func convert(text []byte, kind Kind) (Value, bool) {
	switch {
	case kind == Bool && string(text) == "true":
		return Value{Kind: Bool, bits: 1}, true
	case kind == Bool && string(text) == "false":
		return Value{Kind: Bool}, true
	case kind != Int && kind != Double || len(text) > longestNumber:
		return Value{}, false
	}
	integer, ok := isNumber(text)
	switch {
	case !ok:
	case kind == Double:
		f, err := strconv.ParseFloat(string(text), 64)
		return Value{Kind: Double, bits: math.Float64bits(f)}, err == nil
	case integer:
		n, err := strconv.ParseInt(string(text), 10, 64)
		return Value{Kind: Int, bits: uint64(n)}, err == nil && string(text) != "-0"
	}
	return Value{}, false
}

// isNumber tells whether text is a number as JSON has it, and whether that has
// neither a point nor an exponent.
func isNumber(text []byte) (integer, ok bool) {
	i := 0
	digits := func() bool {
		from := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		return i > from
	}
	if len(text) > 0 && text[0] == '-' {
		i++
	}
	from := i
	if !digits() || text[from] == '0' && i > from+1 {
		return false, false
	}
	integer = i == len(text)
	if i < len(text) && text[i] == '.' {
		if i++; !digits() {
			return false, false
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return false, false
		}
	}
	return integer, i == len(text)
}
