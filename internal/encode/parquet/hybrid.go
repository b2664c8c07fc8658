package parquet

import (
	"encoding/binary"
	"slices"
)

// minRun is the shortest run worth leaving the bit-packed form for.
const minRun = 16

// hybrid writes values of one bit width in the hybrid of run-length and
// bit-packed encoding, from runs and patterns.
type hybrid struct {
	dst   []byte
	width uint
	lit   []byte // bit-packed groups whose header is not written yet
	acc   uint64
	bits  uint
	odd   int // values of the last group, which is not complete
	zero  int // values so far, where width is 0

	levels []uint32 // scratch of repetition
}

func (h *hybrid) start(dst []byte, width uint) {
	*h = hybrid{dst: dst, width: width, lit: h.lit[:0], levels: h.levels}
}

// one appends a single value.
func (h *hybrid) one(v uint32) {
	if h.width == 0 {
		h.zero++
		return
	}
	h.acc |= uint64(v) << h.bits
	h.bits += h.width
	for h.bits >= 8 {
		h.lit = append(h.lit, byte(h.acc))
		h.acc >>= 8
		h.bits -= 8
	}
	h.odd = (h.odd + 1) & 7
}

// run appends v n times.
func (h *hybrid) run(v uint32, n int) {
	if h.width == 0 {
		h.zero += n
		return
	}
	for n > 0 && (h.odd != 0 || n < minRun) {
		h.one(v)
		n--
	}
	if n > 0 {
		h.literals()
		h.dst = appendRun(h.dst, v, n, h.width)
	}
}

// pattern appends vals times times.
func (h *hybrid) pattern(vals []uint32, times int) {
	switch {
	case len(vals) == 0 || times == 0:
		return
	case len(vals) == 1:
		h.run(vals[0], times)
		return
	case h.width == 0:
		h.zero += len(vals) * times
		return
	}
	left := len(vals) * times
	at := 0
	next := func() {
		h.one(vals[at])
		if at++; at == len(vals) {
			at = 0
		}
		left--
	}
	for h.odd != 0 && left > 0 {
		next()
	}
	// From a group's boundary on, eight times the pattern is a whole number of
	// groups, whichever value it starts with.
	if period := 8 * len(vals); left >= 2*period {
		from := len(h.lit)
		for range period {
			next()
		}
		block := h.lit[from:len(h.lit):len(h.lit)]
		h.lit = slices.Grow(h.lit, left/period*len(block))
		for left >= period {
			h.lit = append(h.lit, block...)
			left -= period
		}
	}
	for left > 0 {
		next()
	}
}

// repetition appends the repetition levels of rows whose lists have n elements
// each: 0, then ones; a single 0 for an empty list.
func (h *hybrid) repetition(n, rows int) {
	if n <= 1 {
		h.run(0, rows)
		return
	}
	h.levels = append(h.levels[:0], 0)
	for range n - 1 {
		h.levels = append(h.levels, 1)
	}
	h.pattern(h.levels, rows)
}

func (h *hybrid) literals() {
	if len(h.lit) == 0 {
		return
	}
	h.dst = binary.AppendUvarint(h.dst, uint64(len(h.lit))/uint64(h.width)<<1|1)
	h.dst = append(h.dst, h.lit...)
	h.lit = h.lit[:0]
}

// end completes the last group and returns the encoded values.
func (h *hybrid) end() []byte {
	if h.zero > 0 {
		h.dst = binary.AppendUvarint(h.dst, uint64(h.zero)<<1)
	}
	for h.odd != 0 {
		h.one(0)
	}
	h.literals()
	dst := h.dst
	h.dst = nil
	return dst
}

func appendRun(dst []byte, v uint32, n int, width uint) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for k := uint(0); k < width; k += 8 {
		dst = append(dst, byte(v>>k))
	}
	return dst
}

// appendIndexes appends idx in the hybrid encoding.
func appendIndexes(dst []byte, idx []uint32, width uint) []byte {
	if len(idx) == 0 {
		return dst
	}
	if width == 0 {
		return binary.AppendUvarint(dst, uint64(len(idx))<<1)
	}
	n := len(idx)
	for i := 0; i < n; {
		j := i + 1
		for j < n && idx[j] == idx[i] {
			j++
		}
		if j-i >= 8 || j == n {
			dst = appendRun(dst, idx[i], j-i, width)
			i = j
			continue
		}
		e := i + 8
		for e+8 <= n && !constant((*[8]uint32)(idx[e:])) {
			e += 8
		}
		e = min(e, n)
		dst = binary.AppendUvarint(dst, uint64(e-i+7)/8<<1|1)
		dst = appendPacked(dst, idx[i:e], width)
		i = e
	}
	return dst
}

func constant(g *[8]uint32) bool {
	f := g[0]
	return g[1] == f && g[2] == f && g[3] == f && g[4] == f && g[5] == f && g[6] == f && g[7] == f
}

// appendPacked bit-packs v into whole groups of eight, the last one padded
// with zeros.
func appendPacked(dst []byte, v []uint32, width uint) []byte {
	at := len(dst)
	need := (len(v) + 7) / 8 * int(width)
	dst = slices.Grow(dst, need+8)
	out := dst[at : at+need+8]
	var acc uint64
	var bits uint
	p := 0
	for _, x := range v {
		acc |= uint64(x) << bits
		bits += width
		if bits >= 32 {
			binary.LittleEndian.PutUint32(out[p:], uint32(acc))
			p += 4
			acc >>= 32
			bits -= 32
		}
	}
	binary.LittleEndian.PutUint64(out[p:], acc)
	if p+8 < need {
		clear(out[p+8 : need])
	}
	return dst[:at+need]
}
