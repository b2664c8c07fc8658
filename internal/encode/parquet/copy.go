package parquet

import "slices"

// A value that stands both in a column and in an entry of a map is looked up
// once: the column remembers the number that it has in the map's dictionary.

// SetCopy is Set for the value of the map's entry that Key began, which it ends.
// It returns false, and does nothing, if the row has a value already.
func (c *OptionalLabel) SetCopy(m *Map, v []byte) bool {
	if !c.def.set(c.t.rows) {
		return false
	}
	c.put(v)
	if c.plain || m.vals.plain {
		m.String(v)
		return true
	}
	i := c.idx[len(c.idx)-1]
	m.vals.idx = append(m.vals.idx, c.inMap.number(i, func() uint32 { return m.vals.index(c.d.At(i)) }))
	return true
}

// SetCopy is Set for an integer that is the value of the map's entry that Key
// began, which it ends. It returns false, and does nothing, if the row has a value
// already.
func (c *OptionalNumber) SetCopy(m *Map, v int64) bool {
	if !c.Set(v) {
		return false
	}
	if c.plain || m.vals.plain {
		m.Int(v)
		return true
	}
	i := c.idx[len(c.idx)-1]
	m.vals.idx = append(m.vals.idx, c.inMap.number(i, func() uint32 { return m.int(v) }))
	return true
}

// otherNumbers are what the values of a dictionary have as numbers in another
// one, plus 1; 0 is not known yet.
type otherNumbers []uint32

// number returns the other number of value i; look finds it.
func (o *otherNumbers) number(i uint32, look func() uint32) uint32 {
	if int(i) >= len(*o) {
		n := len(*o)
		*o = slices.Grow(*o, int(i)+1-n)[:i+1]
		clear((*o)[n:])
	}
	if (*o)[i] == 0 {
		(*o)[i] = look() + 1
	}
	return (*o)[i] - 1
}

func (o *otherNumbers) reset() { *o = (*o)[:0] }
