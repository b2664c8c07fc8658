package otlp

import (
	"encoding/binary"
	"iter"
)

// Fixed64s are the numbers of a repeated field of eight bytes each, as the parts
// of the message that have them: packed, one by one, or both.
type Fixed64s [][]byte

// All returns the numbers in order.
func (f Fixed64s) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, b := range f {
			for ; len(b) >= 8; b = b[8:] {
				if !yield(binary.LittleEndian.Uint64(b)) {
					return
				}
			}
		}
	}
}

// add takes the field whose tag stands before b[i:].
func (f *Fixed64s) add(tag uint64, b []byte, i int) int {
	if tag&7 == 1 {
		_, end := Fixed64(b, i)
		if end >= 0 {
			*f = append(*f, b[i:end])
		}
		return end
	}
	packed, i := Bytes(b, i)
	if i >= 0 && len(packed)%8 != 0 {
		return faultTruncated
	}
	*f = append(*f, packed)
	return i
}

// Varints are the numbers of a repeated field of varints, as the parts of the
// message that have them: packed, one by one, or both.
type Varints [][]byte

// All returns the numbers in order.
func (v Varints) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, b := range v {
			for i := 0; i < len(b); {
				var n uint64
				if n, i = Uvarint(b, i); i < 0 || !yield(n) {
					return
				}
			}
		}
	}
}

// add takes the field whose tag stands before b[i:].
func (v *Varints) add(tag uint64, b []byte, i int) int {
	if tag&7 == 0 {
		_, end := Uvarint(b, i)
		if end >= 0 {
			*v = append(*v, b[i:end])
		}
		return end
	}
	packed, end := Bytes(b, i)
	if end < 0 {
		return end
	}
	for k := 0; k < len(packed); {
		if _, k = Uvarint(packed, k); k < 0 {
			return k
		}
	}
	*v = append(*v, packed)
	return end
}

// zigzag32 returns the sint32 that n stands for.
func zigzag32(n uint64) int32 { return int32(uint32(n>>1) ^ -uint32(n&1)) }
