package otlp

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Faults are the negative indexes that the functions of this package return
// in place of a position; Fault turns one into an error.
const (
	faultTruncated = -1 - iota
	faultVarint
	faultWireType
	faultField
	faultDepth
	BadID // a trace or span id that is neither empty nor of its fixed length
)

// ErrMalformed is what every error of this package wraps.
var ErrMalformed = errors.New("malformed OTLP")

// Fault returns the error that the negative position i stands for, and nil
// for any other.
func Fault(i int) error {
	switch i {
	case faultTruncated:
		return fmt.Errorf("%w: a field ends beyond its message", ErrMalformed)
	case faultVarint:
		return fmt.Errorf("%w: a varint is longer than 64 bits", ErrMalformed)
	case faultWireType:
		return fmt.Errorf("%w: a field has a wire type that is a group, unknown or not the field's own", ErrMalformed)
	case faultField:
		return fmt.Errorf("%w: a field number is out of range", ErrMalformed)
	case faultDepth:
		return fmt.Errorf("%w: values are nested deeper than %d", ErrMalformed, MaxDepth)
	case BadID:
		return fmt.Errorf("%w: a trace or span id has the wrong length", ErrMalformed)
	}
	return nil
}

// Uvarint decodes the varint at b[i:]. It returns the value and the index
// after it; the index is a fault if the varint is cut short or too long.
func Uvarint(b []byte, i int) (uint64, int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return uvarintSlow(b, i)
}

func uvarintSlow(b []byte, i int) (uint64, int) {
	var x uint64
	for s := uint(0); ; s += 7 {
		if i >= len(b) {
			return 0, faultTruncated
		}
		c := b[i]
		i++
		if s == 63 && c > 1 {
			return 0, faultVarint
		}
		x |= uint64(c&0x7f) << s
		if c < 0x80 {
			return x, i
		}
	}
}

// Bytes returns the length-delimited payload whose length stands at b[i:],
// without copying it, and the index after it.
func Bytes(b []byte, i int) ([]byte, int) {
	var n uint64
	if i < len(b) && b[i] < 0x80 {
		n, i = uint64(b[i]), i+1
	} else if i+1 < len(b) && b[i+1] < 0x80 {
		n, i = uint64(b[i]&0x7f)|uint64(b[i+1])<<7, i+2
	} else if n, i = uvarintSlow(b, i); i < 0 {
		return nil, i
	}
	if n > uint64(len(b)-i) {
		return nil, faultTruncated
	}
	e := i + int(n)
	return b[i:e:e], e
}

// Fixed64 returns the eight bytes at b[i:] as a little-endian number.
func Fixed64(b []byte, i int) (uint64, int) {
	if len(b)-i < 8 {
		return 0, faultTruncated
	}
	return binary.LittleEndian.Uint64(b[i:]), i + 8
}

// Fixed32 returns the four bytes at b[i:] as a little-endian number.
func Fixed32(b []byte, i int) (uint32, int) {
	if len(b)-i < 4 {
		return 0, faultTruncated
	}
	return binary.LittleEndian.Uint32(b[i:]), i + 4
}

// Skip steps over the field whose tag was read just before b[i:]. The caller
// has taken every field that it knows with the right wire type; known has a
// bit for each field number below 64 that it knows, so that one of those met
// here is refused for its wire type. Groups are refused.
func Skip(b []byte, i int, tag, known uint64) int {
	field := tag >> 3
	if field == 0 || field > 1<<29-1 {
		return faultField
	}
	if field < 64 && known>>field&1 != 0 {
		return faultWireType
	}
	switch tag & 7 {
	case 0:
		_, i = Uvarint(b, i)
	case 1:
		_, i = Fixed64(b, i)
	case 2:
		_, i = Bytes(b, i)
	case 5:
		_, i = Fixed32(b, i)
	default:
		return faultWireType
	}
	return i
}

// Merge returns what a singular message field holds after next was met behind
// prev: protobuf defines that as the concatenation of the two. It copies only
// if both have content.
func Merge(prev, next []byte) []byte {
	switch {
	case len(prev) == 0:
		return next
	case len(next) == 0:
		return prev
	}
	return append(append(make([]byte, 0, len(prev)+len(next)), prev...), next...)
}
