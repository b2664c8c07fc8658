package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"
)

// maxBound is the length to which texts in statistics are cut: a megabyte-long
// value must not stand in every index.
const maxBound = 64

// truncated returns a copy of the bound. A minimum that is cut stays below the
// value; a maximum has its last character raised so that it stays above.
func (b bound) truncated(typ format.Type) bound {
	if b.min == nil {
		return bound{}
	}
	if typ != format.ByteArray {
		return bound{bytes.Clone(b.min), bytes.Clone(b.max)}
	}
	// An empty value is not an absent one: Clone keeps it non-nil.
	return bound{bytes.Clone(cut(b.min)), cutAbove(b.max)}
}

// cut returns the longest prefix of at most maxBound bytes that ends with a
// whole character.
func cut(v []byte) []byte {
	if len(v) <= maxBound {
		return v
	}
	n := maxBound
	for n > 0 && !utf8.RuneStart(v[n]) {
		n--
	}
	return v[:n]
}

// cutAbove returns the shortest raise of a prefix of v that is not below v, or
// v where none exists.
func cutAbove(v []byte) []byte {
	p := cut(v)
	if len(p) == len(v) {
		return bytes.Clone(v)
	}
	for len(p) > 0 {
		r, n := utf8.DecodeLastRune(p)
		p = p[:len(p)-n]
		if r == utf8.MaxRune {
			continue
		}
		if r++; r == 0xd800 { // surrogates are not characters
			r = 0xe000
		}
		return utf8.AppendRune(bytes.Clone(p), r)
	}
	return bytes.Clone(v)
}

// compare orders two values of a type as readers do.
func compare(typ format.Type, a, b []byte) int {
	switch typ {
	case format.Int32:
		return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b)))
	case format.Int64:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	case format.Double:
		return cmp.Compare(double(a), double(b))
	}
	return bytes.Compare(a, b)
}

func double(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// span returns the bound of all pages.
func span(typ format.Type, pages []bound) bound {
	var s bound
	for _, p := range pages {
		if p.min == nil {
			continue
		}
		if s.min == nil || compare(typ, p.min, s.min) < 0 {
			s.min = p.min
		}
		if s.max == nil || compare(typ, p.max, s.max) > 0 {
			s.max = p.max
		}
	}
	return s
}

// boundaryOrder tells whether the pages' bounds rise or fall.
func boundaryOrder(typ format.Type, pages []bound) format.BoundaryOrder {
	up, down := true, true
	var last bound
	for _, p := range pages {
		if p.min == nil {
			continue
		}
		if last.min != nil {
			lo, hi := compare(typ, last.min, p.min), compare(typ, last.max, p.max)
			up = up && lo <= 0 && hi <= 0
			down = down && lo >= 0 && hi >= 0
		}
		last = p
	}
	switch {
	case up:
		return format.Ascending
	case down:
		return format.Descending
	}
	return format.Unordered
}
