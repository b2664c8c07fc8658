package parquet

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// decodeHybrid decodes n values of the hybrid encoding, as its specification
// has it, a bit at a time.
func decodeHybrid(t *testing.T, b []byte, width uint, n int) []uint32 {
	t.Helper()
	var out []uint32
	for len(b) > 0 {
		h, k := binary.Uvarint(b)
		b = b[k:]
		if h&1 == 0 {
			var v uint32
			bytes := int(width+7) / 8
			for i := range bytes {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[bytes:]
			out = append(out, slices.Repeat([]uint32{v}, int(h>>1))...)
			continue
		}
		size := int(h>>1) * int(width)
		for i := range int(h>>1) * 8 {
			var v uint32
			for j := range width {
				bit := uint(i)*width + j
				v |= uint32(b[bit/8]>>(bit%8)&1) << j
			}
			out = append(out, v)
		}
		b = b[size:]
	}
	if len(out) < n || len(out) >= n+8 {
		t.Fatalf("%d values, want %d and less than a group of padding", len(out), n)
	}
	for _, pad := range out[n:] {
		if pad != 0 {
			t.Error("the padding is not zero")
		}
	}
	return out[:n]
}

func TestHybridFromRunsAndPatterns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var h hybrid
	for range 3000 {
		width := uint(r.IntN(20))
		limit := 1 << width
		var want []uint32
		h.start(nil, width)
		for range r.IntN(6) {
			switch r.IntN(3) {
			case 0:
				v, n := uint32(r.IntN(limit)), r.IntN(40)
				h.run(v, n)
				want = append(want, slices.Repeat([]uint32{v}, n)...)
			case 1:
				vals := make([]uint32, r.IntN(12))
				for i := range vals {
					vals[i] = uint32(r.IntN(limit))
				}
				n := r.IntN(60)
				h.pattern(vals, n)
				want = append(want, slices.Repeat(vals, n)...)
			default:
				v := uint32(r.IntN(limit))
				h.one(v)
				want = append(want, v)
			}
		}
		if got := decodeHybrid(t, h.end(), width, len(want)); !slices.Equal(got, want) {
			t.Fatalf("width %d: got %v, want %v", width, got, want)
		}
	}
}

func TestHybridRepetition(t *testing.T) {
	var h hybrid
	h.start(nil, 1)
	var want []uint32
	for _, n := range []int{0, 3, 1, 9, 0, 2} {
		h.repetition(n, 21)
		for range 21 {
			want = append(want, 0)
			for range n - 1 {
				want = append(want, 1)
			}
		}
	}
	if got := decodeHybrid(t, h.end(), 1, len(want)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestIndexes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		width := uint(1 + r.IntN(24))
		var want []uint32
		for range r.IntN(8) {
			v := uint32(r.IntN(1 << width))
			if r.IntN(2) == 0 {
				want = append(want, slices.Repeat([]uint32{v}, r.IntN(30))...)
			} else {
				want = append(want, v)
			}
		}
		if got := decodeHybrid(t, appendIndexes(nil, want, width), width, len(want)); !slices.Equal(got, want) {
			t.Fatalf("width %d: got %v, want %v", width, got, want)
		}
	}
	if b := appendIndexes(nil, nil, 3); len(b) != 0 {
		t.Errorf("no indexes are %x", b)
	}
	if b := appendIndexes(nil, make([]uint32, 5), 0); string(b) != "\x0a" {
		t.Errorf("indexes of width 0 are %x", b)
	}
}

func TestLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var l levels
	for range 2000 {
		l.reset()
		var want []uint32
		for range r.IntN(5) {
			n, v := r.IntN(80), r.IntN(2)
			if v == 0 {
				l.zeros(n)
			} else {
				l.fill(n)
			}
			want = append(want, slices.Repeat([]uint32{uint32(v)}, n)...)
		}
		b := l.appendTo([]byte("x"))
		if n := binary.LittleEndian.Uint32(b[1:]); int(n) != len(b)-5 || l.len != len(want) {
			t.Fatalf("the length says %d of %d bytes, %d of %d levels", n, len(b)-5, l.len, len(want))
		}
		if got := decodeHybrid(t, b[5:], 1, len(want)); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}
