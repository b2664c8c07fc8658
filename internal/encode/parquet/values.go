package parquet

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
	"github.com/s3window/s3window/internal/encode/dict"
)

// values is the content of a dictionary-encoded string column, without its
// levels: indexes while the dictionary is in use, PLAIN values afterwards.
type values struct {
	*chunk
	t     *Table
	d     *dict.Strings
	idx   []uint32
	plain bool // the dictionary was given up
	raw   []byte
	rawN  int
	last  []byte // the value of the last index; older than the dictionary's memory, maybe, but not changed
	total int    // values in finished pages
}

func (t *Table) newValues(c *chunk) values {
	return values{chunk: c, t: t, d: dict.NewStrings()}
}

// put appends a value, with invalid UTF-8 replaced.
func (c *values) put(v []byte) {
	if c.plain {
		c.putRaw(c.t.mend(v))
		return
	}
	i, h, found := c.d.Find(v)
	if !found {
		i = c.insert(h, v)
	}
	c.idx = append(c.idx, i)
}

// putRepeated is put for columns whose value is mostly the one before.
func (c *values) putRepeated(v []byte) {
	if len(c.idx) > 0 && string(c.last) == string(v) {
		c.idx = append(c.idx, c.idx[len(c.idx)-1])
		return
	}
	c.put(v)
	if !c.plain {
		c.last = c.d.At(c.idx[len(c.idx)-1])
	}
}

// index returns the number of v in the dictionary.
func (c *values) index(v []byte) uint32 {
	i, h, found := c.d.Find(v)
	if !found {
		i = c.insert(h, v)
	}
	return i
}

// insert adds a value that was not found. Only these need their UTF-8 checked.
func (c *values) insert(h uint64, v []byte) uint32 {
	if m := c.t.mend(v); len(m) != len(v) || len(m) > 0 && &m[0] != &v[0] {
		i, _ := c.d.Put(m)
		return i
	}
	return c.d.Insert(h, v)
}

func (c *values) putRaw(v []byte) {
	c.raw = binary.LittleEndian.AppendUint32(c.raw, uint32(len(v)))
	c.raw = append(c.raw, v...)
	c.rawN++
}

func (c *values) len() int     { return len(c.idx) + c.rawN }
func (c *values) pending() int { return 4*len(c.idx) + len(c.raw) }
func (c *values) wasteful() bool {
	return !c.plain && unfit(c.d.Len(), len(c.d.Data()), c.total+len(c.idx), c.t.cfg.DictBytes)
}

// unfit tells whether a dictionary is not worth having: it has outgrown its
// limit, or nearly every value so far is a new one.
func unfit(distinct, size, total, limit int) bool {
	return size > limit || distinct >= minDistinct && distinct > total-total/16
}

// minDistinct is the size from which on a dictionary's worth is judged.
const minDistinct = 1024

func (c *values) held() int { return 4*cap(c.idx) + cap(c.raw) + c.d.Held() }

func (c *values) reset() {
	c.d.Reset()
	c.idx, c.raw, c.rawN, c.plain, c.last, c.total = c.idx[:0], c.raw[:0], 0, false, nil, 0
}

func (c *values) finish(t *Table) {
	if n := c.d.Len(); n > 0 {
		t.writeDictionary(c.chunk, c.d.Data(), n)
	}
}

// write appends the values to body, which has their levels, ends the page, and
// gives the dictionary up if it has grown too large.
func (c *values) write(t *Table, body []byte, p content) {
	p.encoding = format.RLEDictionary
	if c.plain || c.d.Len() == 0 {
		// Without a dictionary page, readers refuse pages that claim one: so
		// also where all values were null until now.
		p.encoding = format.Plain
		body = append(body, c.raw...)
	} else {
		w := width(c.d.Len())
		body = appendIndexes(append(body, byte(w)), c.idx, w)
	}
	if c.indexed && c.len() > 0 {
		p.bound = c.bound()
	}
	t.writePage(c.chunk, body, p)
	t.body = body
	c.total += len(c.idx)
	c.idx, c.raw, c.rawN = c.idx[:0], c.raw[:0], 0
	c.plain = c.plain || unfit(c.d.Len(), len(c.d.Data()), c.total, t.cfg.DictBytes)
}

// width is the number of bits that the indexes of n values need.
func width(n int) uint { return uint(bits.Len32(uint32(n - 1))) }

func (c *values) bound() bound {
	var b bound
	if c.plain {
		for raw := c.raw; len(raw) > 0; {
			n := 4 + binary.LittleEndian.Uint32(raw)
			b.include(raw[4:n:n])
			raw = raw[n:]
		}
		return b
	}
	seen := make([]uint64, (c.d.Len()+63)/64)
	for _, i := range c.idx {
		seen[i>>6] |= 1 << (i & 63)
	}
	for k, s := range seen {
		for ; s != 0; s &= s - 1 {
			b.include(c.d.At(uint32(k*64 + bits.TrailingZeros64(s))))
		}
	}
	return b
}

// include widens the bound to v; b then shares v's memory.
func (b *bound) include(v []byte) {
	if b.min == nil || bytes.Compare(v, b.min) < 0 {
		b.min = v
	}
	if b.max == nil || bytes.Compare(v, b.max) > 0 {
		b.max = v
	}
}
