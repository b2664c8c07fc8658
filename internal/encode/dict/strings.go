// Package dict numbers distinct values in the order of their first
// appearance. A number depends on the values alone, never on the hash, whose
// seed is random against inputs made to collide.
package dict

import (
	"encoding/binary"
	"math/rand/v2"
)

const (
	minSlots  = 256
	keepSlots = 1 << 17 // a larger table is given up on Reset
)

// Strings numbers byte strings. Its values lie behind each other with a
// 4-byte little-endian length before each, which is Parquet's PLAIN encoding:
// Data is a dictionary page as it stands.
//
// The zero value is not usable; NewStrings is. Not safe for concurrent use.
type Strings struct {
	slots []slot // a power of two, at most half full
	offs  []uint32
	data  []byte
	seed  uint64
}

// slot holds what is needed to reject or find a value in a quarter of a cache
// line.
type slot struct {
	hash  uint32
	index uint32 // + 1; 0 marks an empty slot
	off   uint32
	len   uint32
}

// NewStrings returns an empty dictionary.
func NewStrings() *Strings {
	return &Strings{slots: make([]slot, minSlots), seed: rand.Uint64()}
}

// Reset empties the dictionary and keeps its memory.
func (d *Strings) Reset() {
	if len(d.slots) > keepSlots {
		d.slots = make([]slot, minSlots)
	} else if len(d.offs) > 0 {
		clear(d.slots)
	}
	d.offs, d.data = d.offs[:0], d.data[:0]
}

// Len returns how many values there are.
func (d *Strings) Len() int { return len(d.offs) }

// Data returns all values in order, length-prefixed. It is valid until the
// next Insert or Reset.
func (d *Strings) Data() []byte { return d.data }

// Held returns how many bytes of memory the dictionary holds.
func (d *Strings) Held() int { return cap(d.slots)*16 + cap(d.offs)*4 + cap(d.data) }

// At returns value i, valid until the next Insert or Reset.
func (d *Strings) At(i uint32) []byte {
	o := d.offs[i]
	n := binary.LittleEndian.Uint32(d.data[o-4:])
	return d.data[o : o+n : o+n]
}

// Find returns the number of v, and the hash that Insert wants where there is
// none yet.
func (d *Strings) Find(v []byte) (index uint32, h uint64, found bool) {
	h = hash(d.seed, v)
	tab := d.slots
	for p := h; ; p++ {
		e := &tab[p&uint64(len(tab)-1)]
		if e.index == 0 {
			return 0, h, false
		}
		if e.hash == uint32(h) && int(e.len) == len(v) && string(d.data[e.off:e.off+e.len]) == string(v) {
			return e.index - 1, h, true
		}
	}
}

// Insert adds v, which Find did not find and whose hash it returned, and
// returns its number.
func (d *Strings) Insert(h uint64, v []byte) uint32 {
	d.data = binary.LittleEndian.AppendUint32(d.data, uint32(len(v)))
	off := uint32(len(d.data))
	d.data = append(d.data, v...)
	d.offs = append(d.offs, off)
	n := uint32(len(d.offs))
	if int(n)*2 > len(d.slots) {
		d.grow()
	}
	*d.free(uint32(h)) = slot{hash: uint32(h), index: n, off: off, len: uint32(len(v))}
	return n - 1
}

// Put returns the number of v, which it adds if it is new.
func (d *Strings) Put(v []byte) (index uint32, added bool) {
	i, h, found := d.Find(v)
	if found {
		return i, false
	}
	return d.Insert(h, v), true
}

func (d *Strings) free(h uint32) *slot {
	for p := uint64(h); ; p++ {
		if e := &d.slots[p&uint64(len(d.slots)-1)]; e.index == 0 {
			return e
		}
	}
}

func (d *Strings) grow() {
	old := d.slots
	d.slots = make([]slot, 2*len(old))
	for _, e := range old {
		if e.index != 0 {
			*d.free(e.hash) = e
		}
	}
}
