package dict

import (
	"encoding/binary"
	"math/bits"
)

// The multipliers of wyhash.
const (
	mul0 = 0xa0761d6478bd642f
	mul1 = 0xe7037ed1a0b428db
	mul2 = 0x8ebc6af09c88c6e3
)

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// hash is wyhash, shortened: inputs are told apart by the table's comparison,
// the hash only has to spread them.
func hash(seed uint64, p []byte) uint64 {
	n := len(p)
	var a, b uint64
	h := seed ^ uint64(n)
	switch {
	case n > 16:
		q := p
		for len(q) > 16 {
			h = mix(binary.LittleEndian.Uint64(q)^mul1, binary.LittleEndian.Uint64(q[8:])^h)
			q = q[16:]
		}
		a, b = binary.LittleEndian.Uint64(p[n-16:]), binary.LittleEndian.Uint64(p[n-8:])
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[n-4:]))
	case n > 0:
		a = uint64(p[0]) | uint64(p[n>>1])<<8 | uint64(p[n-1])<<16
	}
	return mix(a^mul0^h, b^mul2)
}
