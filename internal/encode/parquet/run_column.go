package parquet

import (
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// RunLabel is a string column of a RunSet.
type RunLabel struct {
	values
	numbers []uint32 // by entry
}

// Label adds a required string column to the set.
func (s *RunSet) Label(name string, indexed bool) *RunLabel {
	return s.newLabel(name, chunk{indexed: indexed})
}

// OptionalLabel adds an optional string column with statistics to the set.
func (s *RunSet) OptionalLabel(name string) *RunLabel {
	return s.newLabel(name, chunk{indexed: true, optional: true})
}

func (s *RunSet) newLabel(name string, k chunk) *RunLabel {
	s.t.schema.fields++
	s.t.schema.text(name, k.optional)
	k.path, k.typ = []string{name}, format.ByteArray
	c := &RunLabel{values: s.t.newValues(s.t.newChunk(k))}
	s.columns = append(s.columns, c)
	return c
}

// Add puts the entry's value, with invalid UTF-8 replaced.
func (c *RunLabel) Add(v []byte) { c.numbers = append(c.numbers, c.index(v)) }

// Null says that the entry has no value; the column is optional.
func (c *RunLabel) Null() { c.numbers = append(c.numbers, null) }

func (c *RunLabel) width(int) int { return 1 }
func (c *RunLabel) held() int     { return c.values.held() + 4*cap(c.numbers) }

func (c *RunLabel) reset() {
	c.values.reset()
	c.numbers = c.numbers[:0]
}

func (c *RunLabel) flush(s *RunSet) {
	t, n := s.t, c.d.Len()
	p := content{encoding: runEncoding(n), rows: s.rows, values: s.rows}
	t.body, p.nulls = s.scalars(c.chunk, t.body[:0], c.numbers, n)
	if c.indexed {
		for k, b := range s.used(c.numbers, n) {
			for ; b != 0; b &= b - 1 {
				p.bound.include(c.d.At(uint32(k*64 + bits.TrailingZeros64(b))))
			}
		}
	}
	t.writePage(c.chunk, t.body, p)
}

// RunNumber is a column of fixed width of a RunSet.
type RunNumber struct {
	numbers
	entries []uint32 // numbers by entry
}

// Count adds a required INT64 column to the set.
func (s *RunSet) Count(name string) *RunNumber {
	return s.newNumber(name, chunk{typ: format.Int64})
}

// OptionalInt64 adds an optional INT64 column with statistics to the set.
func (s *RunSet) OptionalInt64(name string) *RunNumber {
	return s.newNumber(name, chunk{typ: format.Int64, optional: true, indexed: true})
}

// OptionalDouble adds an optional DOUBLE column with statistics to the set.
// Add takes the bits of a value.
func (s *RunSet) OptionalDouble(name string) *RunNumber {
	return s.newNumber(name, chunk{typ: format.Double, optional: true, indexed: true})
}

func (s *RunSet) newNumber(name string, k chunk) *RunNumber {
	s.t.schema.fields++
	s.t.schema.leaf(name, k.typ, k.optional)
	k.path = []string{name}
	c := &RunNumber{numbers: s.t.newNumbers(s.t.newChunk(k))}
	s.columns = append(s.columns, c)
	return c
}

// Add puts the entry's value.
func (c *RunNumber) Add(v int64) { c.entries = append(c.entries, c.index(v)) }

// Null says that the entry has no value; the column is optional.
func (c *RunNumber) Null() { c.entries = append(c.entries, null) }

func (c *RunNumber) width(int) int { return 1 }
func (c *RunNumber) held() int     { return c.numbers.held() + 4*cap(c.entries) }

func (c *RunNumber) reset() {
	c.numbers.reset()
	c.entries = c.entries[:0]
}

func (c *RunNumber) flush(s *RunSet) {
	t, n := s.t, len(c.vals)
	p := content{encoding: runEncoding(n), rows: s.rows, values: s.rows}
	t.body, p.nulls = s.scalars(c.chunk, t.body[:0], c.entries, n)
	if c.indexed && p.nulls < p.values {
		present := c.raw[:0]
		for k, b := range s.used(c.entries, n) {
			for ; b != 0; b &= b - 1 {
				present = append(present, c.vals[k*64+bits.TrailingZeros64(b)])
			}
		}
		c.raw = present[:0]
		p.bound = c.boundOf(present)
	}
	t.writePage(c.chunk, t.body, p)
}
