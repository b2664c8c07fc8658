package otlp

import "math"

// MaxDepth is how deep values may be nested in each other. The collector's own
// decoder stops at about fifty; a processor may build deeper ones.
const MaxDepth = 2000

// Kind is the type of an attribute value, as the letter that stands for it in
// the …_types columns.
type Kind byte

// The kinds of values.
const (
	String Kind = 's'
	Int    Kind = 'i'
	Double Kind = 'd'
	Bool   Kind = 'b'
	Binary Kind = 'y'
	Array  Kind = 'a'
	Object Kind = 'o'
	Null   Kind = 'n'
)

// Value is a decoded AnyValue; what it holds of Array and Object is the
// message, not yet walked.
type Value struct {
	Kind Kind
	Raw  []byte // String, Binary: the content; Array, Object: the message
	bits uint64 // Int, Bool, Double
}

// Bits returns the value of an Int, Bool or Double as the int64 with its bits.
func (v Value) Bits() int64 { return int64(v.bits) }

// Int returns the value of an Int.
func (v Value) Int() int64 { return int64(v.bits) }

// Double returns the value of a Double.
func (v Value) Double() float64 { return math.Float64frombits(v.bits) }

// Bool returns the value of a Bool.
func (v Value) Bool() bool { return v.bits != 0 }

// ShortString returns the value of an AnyValue message that is a string of less
// than 128 bytes in its usual layout, as most are; false for any other, which
// ParseValue decodes.
func ShortString(b []byte) ([]byte, bool) {
	if len(b) > 1 && b[0] == 1<<3|2 && b[1] < 0x80 && int(b[1])+2 == len(b) {
		return b[2:], true
	}
	return nil, false
}

// ParseValue decodes an AnyValue message. Of several values in it the last
// counts. The second result is a fault if the message is malformed.
func ParseValue(b []byte) (Value, int) {
	if len(b) < 2 {
		return parseValueSlow(b)
	}
	// The usual layout: one value and nothing else.
	switch b[0] {
	case 1<<3 | 2:
		if raw, i := Bytes(b, 1); i == len(b) {
			return Value{Kind: String, Raw: raw}, i
		}
	case 3<<3 | 0:
		if n, i := Uvarint(b, 1); i == len(b) {
			return Value{Kind: Int, bits: n}, i
		}
	case 4<<3 | 1:
		if n, i := Fixed64(b, 1); i == len(b) {
			return Value{Kind: Double, bits: n}, i
		}
	}
	return parseValueSlow(b)
}

const knownValues = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7

func parseValueSlow(b []byte) (Value, int) {
	v := Value{Kind: Null}
	i := 0
	for i < len(b) {
		var tag uint64
		tag, i = Uvarint(b, i)
		if i < 0 {
			return v, i
		}
		var raw []byte
		var bits uint64
		var kind Kind
		switch tag {
		case 1<<3 | 2:
			kind = String
			raw, i = Bytes(b, i)
		case 2<<3 | 0:
			kind = Bool
			bits, i = Uvarint(b, i)
		case 3<<3 | 0:
			kind = Int
			bits, i = Uvarint(b, i)
		case 4<<3 | 1:
			kind = Double
			bits, i = Fixed64(b, i)
		case 5<<3 | 2:
			kind = Array
			raw, i = Bytes(b, i)
		case 6<<3 | 2:
			kind = Object
			raw, i = Bytes(b, i)
		case 7<<3 | 2:
			kind = Binary
			raw, i = Bytes(b, i)
		default:
			if i = Skip(b, i, tag, knownValues); i < 0 {
				return v, i
			}
			continue
		}
		if i < 0 {
			return v, i
		}
		v = Value{Kind: kind, Raw: raw, bits: bits}
	}
	return v, i
}
