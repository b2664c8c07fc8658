package parquet

import "github.com/parquet-go/parquet-go/format"

// OptionalBool is a column of booleans that may be absent, with statistics.
type OptionalBool struct {
	*chunk
	t   *Table
	v   levels // the values, which are packed like levels
	def optionalLevels
}

// OptionalBool adds a column of booleans that may be absent.
func (t *Table) OptionalBool(name string) *OptionalBool {
	t.schema.fields++
	t.schema.leaf(name, format.Boolean, true)
	c := &OptionalBool{t: t, chunk: t.newChunk(
		chunk{path: []string{name}, typ: format.Boolean, optional: true, indexed: true})}
	t.add(c)
	return c
}

// Set puts the value of the row under construction. It returns false, and does
// nothing, if the row has one already.
func (c *OptionalBool) Set(v bool) bool {
	if !c.def.set(c.t.rows) {
		return false
	}
	if v {
		c.v.push(1, 1, 1)
	} else {
		c.v.push(0, 1, 0)
	}
	return true
}

func (c *OptionalBool) pending() int   { return len(c.v.b) }
func (c *OptionalBool) wasteful() bool { return false }
func (c *OptionalBool) held() int      { return cap(c.v.b) + cap(c.def.b) }
func (c *OptionalBool) finish(*Table)  {}

func (c *OptionalBool) reset() {
	c.v.reset()
	c.def.reset()
}

func (c *OptionalBool) flush(t *Table, rows int) {
	t.body = appendBits(c.def.end(t.body[:0], t.rows), &c.v)
	t.writePage(c.chunk, t.body, content{
		encoding: format.Plain, rows: rows, values: rows, nulls: rows - c.v.len, bound: boolBound(&c.v),
	})
	c.v.reset()
}

// appendBits appends the PLAIN form of booleans.
func appendBits(dst []byte, v *levels) []byte {
	at := len(dst)
	dst = append(dst, v.b...)
	for a, n := v.acc, (v.len+7)/8-len(v.b); n > 0; n-- {
		dst = append(dst, byte(a))
		a >>= 8
	}
	return dst[:at+(v.len+7)/8]
}

func boolBound(v *levels) bound {
	if v.len == 0 {
		return bound{}
	}
	b := bound{[]byte{0}, []byte{1}}
	if v.ones == 0 {
		b.max = b.min
	}
	if v.ones == v.len {
		b.min = b.max
	}
	return b
}

// RunBool is an optional boolean column of a RunSet, with statistics.
type RunBool struct {
	*chunk
	entries []uint32 // 0, 1 or null by entry
	v, def  levels
}

// OptionalBool adds an optional boolean column to the set.
func (s *RunSet) OptionalBool(name string) *RunBool {
	s.t.schema.fields++
	s.t.schema.leaf(name, format.Boolean, true)
	c := &RunBool{chunk: s.t.newChunk(chunk{path: []string{name}, typ: format.Boolean, optional: true, indexed: true})}
	s.columns = append(s.columns, c)
	return c
}

// Add puts the entry's value.
func (c *RunBool) Add(v bool) {
	if v {
		c.entries = append(c.entries, 1)
	} else {
		c.entries = append(c.entries, 0)
	}
}

// Null says that the entry has no value.
func (c *RunBool) Null() { c.entries = append(c.entries, null) }

func (c *RunBool) width(int) int { return 1 }
func (c *RunBool) held() int     { return cap(c.v.b) + cap(c.def.b) + 4*cap(c.entries) }
func (c *RunBool) finish(*Table) {}
func (c *RunBool) reset()        { c.entries = c.entries[:0] }

func (c *RunBool) flush(s *RunSet) {
	c.v.reset()
	c.def.reset()
	for _, r := range s.spans {
		switch c.entries[r.entry] {
		case null:
			c.def.zeros(r.rows)
		case 0:
			c.def.fill(r.rows)
			c.v.zeros(r.rows)
		default:
			c.def.fill(r.rows)
			c.v.fill(r.rows)
		}
	}
	t := s.t
	t.body = appendBits(c.def.appendTo(t.body[:0]), &c.v)
	t.writePage(c.chunk, t.body, content{
		encoding: format.Plain, rows: s.rows, values: s.rows, nulls: s.rows - c.v.len, bound: boolBound(&c.v),
	})
}
