package parquet

import (
	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/format"
)

// ID is a required column of binary ids, written as lower-case hexadecimal
// strings, with an optional bloom filter.
type ID struct {
	values
	bloom  bool
	hashes []uint64 // of the values of this row group, for the bloom filter
	prev   []byte   // the last id, as it was given
	hex    []byte   // and as it was put
}

// bloomBits is the size of a bloom filter per distinct value: about one
// percent of absent values pass.
const bloomBits = 10

// ID adds a column of ids.
func (t *Table) ID(name string, withBloom bool) *ID {
	t.schema.fields++
	t.schema.text(name, false)
	c := &ID{bloom: withBloom, values: t.newValues(t.newChunk(chunk{path: []string{name}, typ: format.ByteArray}))}
	t.add(c)
	return c
}

// Add puts the row's id. An empty one is an empty string.
func (c *ID) Add(id []byte) {
	if string(id) == string(c.prev) && c.len() > 0 {
		if c.plain {
			c.putRaw(c.hex)
		} else {
			c.idx = append(c.idx, c.last)
		}
		return
	}
	c.prev = append(c.prev[:0], id...)
	c.hex = appendHex(c.hex[:0], id)
	if c.plain {
		c.hash()
		c.putRaw(c.hex)
		return
	}
	i, h, found := c.d.Find(c.hex)
	if !found {
		i = c.d.Insert(h, c.hex)
		c.hash()
	}
	c.last = i
	c.idx = append(c.idx, i)
}

func (c *ID) hash() {
	if c.bloom {
		c.hashes = append(c.hashes, bloom.XXH64{}.Sum64(c.hex))
	}
}

func (c *ID) flush(t *Table, rows int) {
	c.write(t, t.body[:0], content{rows: rows, values: c.len()})
}

func (c *ID) held() int { return c.values.held() + 8*cap(c.hashes) }

func (c *ID) reset() {
	c.values.reset()
	c.hashes = c.hashes[:0]
}

func (c *ID) finish(t *Table) {
	c.values.finish(t)
	if c.bloom {
		f := make(bloom.SplitBlockFilter, bloom.NumSplitBlocksOf(int64(len(c.hashes)), bloomBits))
		f.InsertBulk(c.hashes)
		c.chunk.bloom = append(t.bloomHeader(c.chunk.bloom[:0], len(f.Bytes())), f.Bytes()...)
	}
}

const hexDigits = "0123456789abcdef"

func appendHex(dst, src []byte) []byte {
	for _, x := range src {
		dst = append(dst, hexDigits[x>>4], hexDigits[x&15])
	}
	return dst
}
