package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// leaf makes the chunk of a further leaf of the elements.
func (l *List) leaf(name string, typ format.Type, optional bool) *chunk {
	path := l.child(name)
	if typ == format.ByteArray {
		l.t.schema.text(name, optional)
	} else {
		l.t.schema.leaf(name, typ, optional)
	}
	return l.t.newChunk(chunk{path: path, typ: typ, optional: true, repeated: true})
}

// ListLabel is a required field of strings that repeat: dictionary-encoded.
type ListLabel struct{ values }

// Label adds a field of strings that repeat.
func (l *List) Label(name string) *ListLabel {
	c := &ListLabel{l.t.newValues(l.leaf(name, format.ByteArray, false))}
	l.leaves = append(l.leaves, c)
	return c
}

// Add puts the element's value, with invalid UTF-8 replaced.
func (c *ListLabel) Add(v []byte) { c.putRepeated(v) }

func (c *ListLabel) flushList(l *List, p content) { c.write(l.t, append(l.t.body[:0], l.head...), p) }

// ListNumber is a required field of numbers with few distinct values.
type ListNumber struct{ numbers }

// Count adds a field of INT64 with few distinct values.
func (l *List) Count(name string) *ListNumber { return l.newNumber(name, format.Int64) }

// Double adds a field of DOUBLE. Add takes the bits of a value.
func (l *List) Double(name string) *ListNumber { return l.newNumber(name, format.Double) }

func (l *List) newNumber(name string, typ format.Type) *ListNumber {
	c := &ListNumber{l.t.newNumbers(l.leaf(name, typ, false))}
	l.leaves = append(l.leaves, c)
	return c
}

// Add puts the element's value.
func (c *ListNumber) Add(v int64) { c.put(v) }

func (c *ListNumber) flushList(l *List, p content) { c.write(l.t, append(l.t.body[:0], l.head...), p) }

// ListOptionalNumber is a field of numbers that may be absent.
type ListOptionalNumber struct {
	numbers
	def   []uint32 // 0: no element, 1: absent, 2: present
	level uint32   // of the element under construction
}

// OptionalInt64 adds a field of INT64 that may be absent.
func (l *List) OptionalInt64(name string) *ListOptionalNumber {
	return l.newOptionalNumber(name, format.Int64)
}

// OptionalDouble adds a field of DOUBLE that may be absent. Set takes the bits
// of a value.
func (l *List) OptionalDouble(name string) *ListOptionalNumber {
	return l.newOptionalNumber(name, format.Double)
}

func (l *List) newOptionalNumber(name string, typ format.Type) *ListOptionalNumber {
	c := &ListOptionalNumber{numbers: l.t.newNumbers(l.leaf(name, typ, true)), level: 1}
	l.leaves, l.ownLevels = append(l.leaves, c), append(l.ownLevels, c)
	return c
}

// Set puts the value of the element under construction, once at most.
func (c *ListOptionalNumber) Set(v int64) {
	c.put(v)
	c.level = 2
}

func (c *ListOptionalNumber) endElement(bool) {
	c.def = append(c.def, c.level)
	c.level = 1
}

func (c *ListOptionalNumber) endEmpty() { c.def = append(c.def, 0) }
func (c *ListOptionalNumber) held() int { return c.numbers.held() + 4*cap(c.def) }

func (c *ListOptionalNumber) reset() {
	c.numbers.reset()
	c.def, c.level = c.def[:0], 1
}

func (c *ListOptionalNumber) flushList(l *List, p content) {
	p.nulls = p.values - c.len()
	body := appendLevels(append(l.t.body[:0], l.head[:l.repLen]...), c.def)
	c.write(l.t, body, p)
	c.def = c.def[:0]
}

// appendLevels appends levels of 0 to 2 as a data page V1 has them.
func appendLevels(dst []byte, levels []uint32) []byte {
	at := len(dst)
	return sized(appendIndexes(append(dst, 0, 0, 0, 0), levels, 2), at)
}

// ListInt64 is a required field of integers close to their neighbours, such as
// times: DELTA_BINARY_PACKED.
type ListInt64 struct {
	*chunk
	v       []int64
	scratch []byte
}

// Int64 adds a field of integers close to their neighbours.
func (l *List) Int64(name string) *ListInt64 {
	c := &ListInt64{chunk: l.leaf(name, format.Int64, false)}
	l.leaves = append(l.leaves, c)
	return c
}

// Add puts the element's value.
func (c *ListInt64) Add(v int64) { c.v = append(c.v, v) }

func (c *ListInt64) pending() int   { return 8 * len(c.v) }
func (c *ListInt64) wasteful() bool { return false }
func (c *ListInt64) held() int      { return 8*cap(c.v) + cap(c.scratch) }
func (c *ListInt64) finish(*Table)  {}
func (c *ListInt64) reset()         { c.v = c.v[:0] }

func (c *ListInt64) flushList(l *List, p content) {
	p.encoding = format.DeltaBinaryPacked
	// The encoding has no error to return for a slice of int64.
	c.scratch, _ = (&delta.BinaryPackedEncoding{}).EncodeInt64(c.scratch[:0], c.v)
	l.t.body = append(append(l.t.body[:0], l.head...), c.scratch...)
	l.t.writePage(c.chunk, l.t.body, p)
	c.v = c.v[:0]
}

// ListID is a required field of binary ids, written as lower-case hexadecimal
// strings: PLAIN, as ID is.
type ListID struct {
	*chunk
	b []byte
}

// ID adds a field of ids.
func (l *List) ID(name string) *ListID {
	c := &ListID{chunk: l.leaf(name, format.ByteArray, false)}
	l.leaves = append(l.leaves, c)
	return c
}

// Add puts the element's id. An empty one is an empty string.
func (c *ListID) Add(id []byte) {
	c.b = appendHex(binary.LittleEndian.AppendUint32(c.b, uint32(2*len(id))), id)
}

func (c *ListID) pending() int   { return len(c.b) }
func (c *ListID) wasteful() bool { return false }
func (c *ListID) held() int      { return cap(c.b) }
func (c *ListID) finish(*Table)  {}
func (c *ListID) reset()         { c.b = c.b[:0] }

func (c *ListID) flushList(l *List, p content) {
	p.encoding = format.Plain
	l.t.body = append(append(l.t.body[:0], l.head...), c.b...)
	l.t.writePage(c.chunk, l.t.body, p)
	c.b = c.b[:0]
}
