package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/format"
	"github.com/s3window/s3window/internal/encode/dict"
)

// numbers is the content of a dictionary-encoded column of fixed width,
// without its levels. Values are kept as the int64 with the same bits.
type numbers struct {
	*chunk
	t      *Table
	d      *dict.Ints
	vals   []int64
	idx    []uint32
	plain  bool
	raw    []int64
	last   int64
	lastIx uint32
	warm   bool // last and lastIx are set
	total  int  // values in finished pages
}

func (t *Table) newNumbers(c *chunk) numbers { return numbers{chunk: c, t: t, d: dict.NewInts()} }

func (c *numbers) put(v int64) {
	switch {
	case c.plain:
		c.raw = append(c.raw, v)
	case c.warm && v == c.last:
		c.idx = append(c.idx, c.lastIx)
	default:
		c.last, c.lastIx, c.warm = v, c.index(v), true
		c.idx = append(c.idx, c.lastIx)
	}
}

func (c *numbers) index(v int64) uint32 {
	i, found := c.d.Get(v)
	if !found {
		i = uint32(len(c.vals))
		c.vals = append(c.vals, v)
		c.d.Set(v, i)
	}
	return i
}

func (c *numbers) append(dst []byte, v int64) []byte {
	if c.typ == format.Int32 {
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

func (c *numbers) len() int     { return len(c.idx) + len(c.raw) }
func (c *numbers) pending() int { return 4*len(c.idx) + 8*len(c.raw) }
func (c *numbers) wasteful() bool {
	return !c.plain && unfit(len(c.vals), 8*len(c.vals), c.total+len(c.idx), c.t.cfg.DictBytes)
}
func (c *numbers) held() int { return 4*cap(c.idx) + 8*cap(c.raw) + 8*cap(c.vals) + c.d.Held() }

func (c *numbers) reset() {
	c.d.Reset()
	c.vals, c.idx, c.raw, c.total = c.vals[:0], c.idx[:0], c.raw[:0], 0
	c.plain, c.warm = false, false
}

func (c *numbers) finish(t *Table) {
	if len(c.vals) == 0 {
		return
	}
	body := t.body[:0]
	for _, v := range c.vals {
		body = c.append(body, v)
	}
	t.writeDictionary(c.chunk, body, len(c.vals))
	t.body = body
}

// write is values.write for numbers.
func (c *numbers) write(t *Table, body []byte, p content) {
	p.encoding = format.RLEDictionary
	if c.plain || len(c.vals) == 0 {
		p.encoding = format.Plain
		for _, v := range c.raw {
			body = c.append(body, v)
		}
	} else {
		w := width(len(c.vals))
		body = appendIndexes(append(body, byte(w)), c.idx, w)
	}
	if c.indexed && c.len() > 0 {
		p.bound = c.bound()
	}
	t.writePage(c.chunk, body, p)
	t.body = body
	c.total += len(c.idx)
	c.idx, c.raw = c.idx[:0], c.raw[:0]
	c.plain = c.plain || unfit(len(c.vals), 8*len(c.vals), c.total, t.cfg.DictBytes)
}

func (c *numbers) bound() bound {
	present := c.raw
	if !c.plain {
		seen := make([]uint64, (len(c.vals)+63)/64)
		for _, i := range c.idx {
			seen[i>>6] |= 1 << (i & 63)
		}
		for k, s := range seen {
			for ; s != 0; s &= s - 1 {
				present = append(present, c.vals[k*64+bits.TrailingZeros64(s)])
			}
		}
		c.raw = present[:0]
	}
	return c.boundOf(present)
}

// boundOf returns the bound of values, of which there is at least one.
func (c *numbers) boundOf(present []int64) bound {
	if c.typ == format.Double {
		return c.doubleBound(present)
	}
	return bound{c.append(nil, slices.Min(present)), c.append(nil, slices.Max(present))}
}

// doubleBound follows the specification: a column with a NaN has no
// statistics, because readers disagree on where it stands; a zero bound has
// the sign that includes both zeros.
func (c *numbers) doubleBound(present []int64) bound {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range present {
		f := math.Float64frombits(uint64(v))
		if math.IsNaN(f) {
			c.noMin = true
			return bound{}
		}
		lo, hi = min(lo, f), max(hi, f)
	}
	if lo == 0 {
		lo = math.Copysign(0, -1)
	}
	if hi == 0 {
		hi = 0
	}
	return bound{
		binary.LittleEndian.AppendUint64(nil, math.Float64bits(lo)),
		binary.LittleEndian.AppendUint64(nil, math.Float64bits(hi)),
	}
}

// Number is a required column of integers with few distinct values.
type Number struct{ numbers }

// Int32 adds a column of INT32 with few distinct values.
func (t *Table) Int32(name string, indexed bool) *Number {
	return t.newNumber(name, format.Int32, indexed)
}

// Count adds a column of INT64 with few distinct values.
func (t *Table) Count(name string) *Number { return t.newNumber(name, format.Int64, false) }

func (t *Table) newNumber(name string, typ format.Type, indexed bool) *Number {
	t.schema.fields++
	t.schema.leaf(name, typ, false)
	c := &Number{t.newNumbers(t.newChunk(chunk{path: []string{name}, typ: typ, indexed: indexed}))}
	t.add(c)
	return c
}

// Add puts the row's value.
func (c *Number) Add(v int64) { c.put(v) }

func (c *Number) flush(t *Table, rows int) {
	c.write(t, t.body[:0], content{rows: rows, values: c.len()})
}

// OptionalNumber is a column of integers or doubles that may be absent, with
// statistics.
type OptionalNumber struct {
	numbers
	def   optionalLevels
	inMap otherNumbers
}

// OptionalInt64 adds a column of INT64 that may be absent.
func (t *Table) OptionalInt64(name string) *OptionalNumber {
	return t.newOptionalNumber(name, format.Int64)
}

// OptionalDouble adds a column of DOUBLE that may be absent. Set takes the
// bits of a value.
func (t *Table) OptionalDouble(name string) *OptionalNumber {
	return t.newOptionalNumber(name, format.Double)
}

func (t *Table) newOptionalNumber(name string, typ format.Type) *OptionalNumber {
	t.schema.fields++
	t.schema.leaf(name, typ, true)
	c := &OptionalNumber{numbers: t.newNumbers(t.newChunk(
		chunk{path: []string{name}, typ: typ, optional: true, indexed: true}))}
	t.add(c)
	return c
}

// Set puts the value of the row under construction. It returns false, and does
// nothing, if the row has one already.
func (c *OptionalNumber) Set(v int64) bool {
	if !c.def.set(c.t.rows) {
		return false
	}
	c.put(v)
	return true
}

func (c *OptionalNumber) held() int { return c.numbers.held() + 4*cap(c.inMap) }

func (c *OptionalNumber) reset() {
	c.numbers.reset()
	c.inMap.reset()
	c.def.reset()
}

func (c *OptionalNumber) flush(t *Table, rows int) {
	body := c.def.end(t.body[:0], t.rows)
	c.write(t, body, content{rows: rows, values: rows, nulls: rows - c.len()})
}

// OptionalInt32 adds a column of INT32 that may be absent.
func (t *Table) OptionalInt32(name string) *OptionalNumber {
	return t.newOptionalNumber(name, format.Int32)
}
