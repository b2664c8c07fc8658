package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"
)

func TestTextBoundsAreCut(t *testing.T) {
	last := string(utf8.MaxRune)
	for _, c := range []struct{ in, min, max string }{
		{"", "", ""},
		{"short", "short", "short"},
		{strings.Repeat("a", 64), strings.Repeat("a", 64), strings.Repeat("a", 64)},
		{strings.Repeat("a", 65), strings.Repeat("a", 64), strings.Repeat("a", 63) + "b"},
		{strings.Repeat("a", 63) + "éé", strings.Repeat("a", 63), strings.Repeat("a", 62) + "b"},
		{strings.Repeat("a", 60) + last + "a", strings.Repeat("a", 60) + last, strings.Repeat("a", 59) + "b"},
		{strings.Repeat("a", 61) + "\ud7ffx", strings.Repeat("a", 61) + "\ud7ff", strings.Repeat("a", 61) + "\ue000"},
		{strings.Repeat(last, 20), strings.Repeat(last, 16), strings.Repeat(last, 20)},
	} {
		got := bound{[]byte(c.in), []byte(c.in)}.truncated(format.ByteArray)
		if string(got.min) != c.min || string(got.max) != c.max || got.min == nil {
			t.Errorf("%q is cut to %q and %q, want %q and %q", c.in, got.min, got.max, c.min, c.max)
		}
		if bytes.Compare(got.min, []byte(c.in)) > 0 || bytes.Compare(got.max, []byte(c.in)) < 0 || !utf8.Valid(got.max) {
			t.Errorf("%q is not within its bounds, or they are not text", c.in)
		}
	}
}

func le(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }

func TestBoundaryOrder(t *testing.T) {
	b := func(lo, hi int64) bound { return bound{le(lo), le(hi)} }
	for _, c := range []struct {
		pages []bound
		want  format.BoundaryOrder
	}{
		{nil, format.Ascending},
		{[]bound{b(1, 2), {}, b(1, 3)}, format.Ascending},
		{[]bound{b(1, 2), b(-1, 2)}, format.Descending},
		{[]bound{b(1, 2), b(0, 3)}, format.Unordered},
		{[]bound{b(1, 2), b(2, 3), b(0, 9)}, format.Unordered},
	} {
		if got := boundaryOrder(format.Int64, c.pages); got != c.want {
			t.Errorf("%v: %v, want %v", c.pages, got, c.want)
		}
	}
}

func TestDoublesWithNaNHaveNoBound(t *testing.T) {
	bits := func(fs ...float64) (out []int64) {
		for _, f := range fs {
			out = append(out, int64(math.Float64bits(f)))
		}
		return out
	}
	for _, c := range []struct {
		in      []int64
		lo, hi  float64
		withNaN bool
	}{
		{bits(1, -2, 3), -2, 3, false},
		{bits(0, math.Copysign(0, -1)), math.Copysign(0, -1), 0, false},
		{bits(math.Inf(1), 1), 1, math.Inf(1), false},
		{bits(1, math.NaN()), 0, 0, true},
	} {
		n := numbers{chunk: &chunk{typ: format.Double}}
		got := n.boundOf(c.in)
		if n.noMin != c.withNaN {
			t.Errorf("%v: NaN is %v", c.in, n.noMin)
		}
		if c.withNaN {
			continue
		}
		if lo, hi := double(got.min), double(got.max); math.Float64bits(lo) != math.Float64bits(c.lo) || math.Float64bits(hi) != math.Float64bits(c.hi) {
			t.Errorf("bounds are %v and %v, want %v and %v", lo, hi, c.lo, c.hi)
		}
	}
}
