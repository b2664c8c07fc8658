package otlp

import (
	"encoding/base64"
	"math"
	"strconv"
)

// Text appends the text of a value: a string as it is, an integer in decimal,
// a double in its shortest form that reads back the same (NaN, Infinity,
// -Infinity), true or false, bytes as base64, arrays and objects as JSON,
// nothing for an absent value.
//
// Strings are not checked for UTF-8, neither here nor inside JSON: a caller
// that needs valid text mends the result. Text returns an error if an array or
// object is malformed or nested deeper than MaxDepth.
func (v Value) Text(dst []byte) ([]byte, error) {
	dst, at := v.AppendText(dst)
	return dst, Fault(at)
}

// AppendText is Text with a fault instead of an error.
func (v Value) AppendText(dst []byte) ([]byte, int) {
	switch v.Kind {
	case String:
		return append(dst, v.Raw...), 0
	case Int:
		return strconv.AppendInt(dst, v.Int(), 10), 0
	case Double:
		return appendDouble(dst, v.Double()), 0
	case Bool:
		return strconv.AppendBool(dst, v.Bool()), 0
	case Binary:
		return base64.StdEncoding.AppendEncode(dst, v.Raw), 0
	case Null:
		return dst, 0
	}
	return v.json(dst, 0)
}

func appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, 64)
}

// json appends the value as JSON without insignificant space, but for two
// marks that keep it lossless: one space before a string says that it stands
// for bytes, two that it stands for a double that JSON has no number for.
// Doubles always have a point or an exponent, integers never.
func (v Value) json(dst []byte, depth int) ([]byte, int) {
	if depth > MaxDepth {
		return dst, faultDepth
	}
	switch v.Kind {
	case String:
		return appendQuoted(dst, v.Raw), 0
	case Int:
		return strconv.AppendInt(dst, v.Int(), 10), 0
	case Double:
		return appendJSONDouble(dst, v.Double()), 0
	case Bool:
		return strconv.AppendBool(dst, v.Bool()), 0
	case Binary:
		dst = append(dst, ` "`...)
		dst = base64.StdEncoding.AppendEncode(dst, v.Raw)
		return append(dst, '"'), 0
	case Array:
		return jsonArray(dst, v.Raw, depth)
	case Object:
		return jsonObject(dst, v.Raw, depth)
	}
	return append(dst, "null"...), 0
}

func appendJSONDouble(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		dst = appendDouble(append(dst, `  "`...), f)
		return append(dst, '"')
	}
	n := len(dst)
	dst = appendDouble(dst, f)
	for _, c := range dst[n:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

func jsonArray(dst, b []byte, depth int) ([]byte, int) {
	dst = append(dst, '[')
	first := true
	for i := 0; i < len(b); {
		var tag uint64
		if tag, i = Uvarint(b, i); i < 0 {
			return dst, i
		}
		if tag != 1<<3|2 {
			if i = Skip(b, i, tag, 1<<1); i < 0 {
				return dst, i
			}
			continue
		}
		var x []byte
		if x, i = Bytes(b, i); i < 0 {
			return dst, i
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		var at int
		if dst, at = jsonMessage(dst, x, depth); at < 0 {
			return dst, at
		}
	}
	return append(dst, ']'), 0
}

func jsonObject(dst, b []byte, depth int) ([]byte, int) {
	dst = append(dst, '{')
	first := true
	a := NewAttributes(b, 1)
	for a.Next() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendQuoted(dst, a.Key), ':')
		var at int
		if dst, at = jsonMessage(dst, a.Value, depth); at < 0 {
			return dst, at
		}
	}
	return append(dst, '}'), min(a.i, 0)
}

func jsonMessage(dst, b []byte, depth int) ([]byte, int) {
	v, at := ParseValue(b)
	if at < 0 {
		return dst, at
	}
	return v.json(dst, depth+1)
}
