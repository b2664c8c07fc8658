package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// Int64 is a required column of integers close to their neighbours, such as
// times: DELTA_BINARY_PACKED.
type Int64 struct {
	*chunk
	v       []int64
	scratch []byte
}

// Timestamp adds a column of microseconds since the epoch, with statistics.
func (t *Table) Timestamp(name string) *Int64 {
	t.schema.fields++
	t.schema.timestamp(name)
	return t.newInt64(name, true)
}

// Int64 adds a column of integers.
func (t *Table) Int64(name string, indexed bool) *Int64 {
	t.schema.fields++
	t.schema.leaf(name, format.Int64, false)
	return t.newInt64(name, indexed)
}

func (t *Table) newInt64(name string, indexed bool) *Int64 {
	c := &Int64{chunk: t.newChunk(chunk{path: []string{name}, typ: format.Int64, indexed: indexed})}
	t.add(c)
	return c
}

// Add puts the row's value.
func (c *Int64) Add(v int64) { c.v = append(c.v, v) }

func (c *Int64) pending() int   { return 8 * len(c.v) }
func (c *Int64) wasteful() bool { return false }
func (c *Int64) held() int      { return 8*cap(c.v) + cap(c.scratch) }
func (c *Int64) finish(*Table)  {}
func (c *Int64) reset()         { c.v = c.v[:0] }

func (c *Int64) flush(t *Table, rows int) {
	p := content{encoding: format.DeltaBinaryPacked, rows: rows, values: len(c.v)}
	if c.indexed {
		lo, hi := c.v[0], c.v[0]
		for _, x := range c.v {
			lo, hi = min(lo, x), max(hi, x)
		}
		p.bound = bound{binary.LittleEndian.AppendUint64(nil, uint64(lo)), binary.LittleEndian.AppendUint64(nil, uint64(hi))}
	}
	// The encoding has no error to return for a slice of int64.
	c.scratch, _ = (&delta.BinaryPackedEncoding{}).EncodeInt64(c.scratch[:0], c.v)
	t.writePage(c.chunk, c.scratch, p)
	c.v = c.v[:0]
}

// Text is a required column of strings that seldom repeat: PLAIN.
type Text struct {
	*chunk
	t *Table
	b []byte
	n int
}

// Text adds a column of strings that seldom repeat.
func (t *Table) Text(name string) *Text {
	t.schema.fields++
	t.schema.text(name, false)
	c := &Text{t: t, chunk: t.newChunk(chunk{path: []string{name}, typ: format.ByteArray})}
	t.add(c)
	return c
}

// Add puts the row's value, with invalid UTF-8 replaced.
func (c *Text) Add(v []byte) { c.addValid(c.t.mend(v)) }

func (c *Text) addValid(v []byte) {
	c.b = binary.LittleEndian.AppendUint32(c.b, uint32(len(v)))
	c.b = append(c.b, v...)
	c.n++
}

func (c *Text) pending() int   { return len(c.b) }
func (c *Text) wasteful() bool { return false }
func (c *Text) held() int      { return cap(c.b) }
func (c *Text) finish(*Table)  {}
func (c *Text) reset()         { c.b, c.n = c.b[:0], 0 }

func (c *Text) flush(t *Table, rows int) {
	t.writePage(c.chunk, c.b, content{encoding: format.Plain, rows: rows, values: c.n})
	c.reset()
}
