package parquet

import "encoding/binary"

// levels is a stream of repetition or definition levels of 0 and 1.
type levels struct {
	b    []byte
	acc  uint64
	n    uint // bits in acc
	len  int
	ones int
}

func (l *levels) reset() { *l = levels{b: l.b[:0]} }

// push appends the low k (at most 32) bits of v, of which ones are set.
func (l *levels) push(v uint64, k uint, ones int) {
	l.acc |= v << l.n
	l.n += k
	l.len += int(k)
	l.ones += ones
	if l.n >= 32 {
		l.b = binary.LittleEndian.AppendUint32(l.b, uint32(l.acc))
		l.acc >>= 32
		l.n -= 32
	}
}

// zeros appends n levels of 0.
func (l *levels) zeros(n int) {
	for ; n > 0; n -= 32 {
		l.push(0, uint(min(n, 32)), 0)
	}
}

// fill appends n levels of 1.
func (l *levels) fill(n int) {
	for ; n > 0; n -= 32 {
		k := min(n, 32)
		l.push(1<<uint(k)-1, uint(k), k)
	}
}

// appendTo appends the levels as a data page V1 has them: the length in four
// bytes, then the hybrid encoding.
func (l *levels) appendTo(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	switch {
	case l.len == 0:
	case l.ones == 0:
		dst = append(binary.AppendUvarint(dst, uint64(l.len)<<1), 0)
	case l.ones == l.len:
		dst = append(binary.AppendUvarint(dst, uint64(l.len)<<1), 1)
	default:
		groups := (l.len + 7) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		dst = append(dst, l.b...)
		for a, n := l.acc, groups-len(l.b); n > 0; n-- {
			dst = append(dst, byte(a))
			a >>= 8
		}
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
