package parquet

import (
	"slices"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/format"
)

// ID is a required column of binary ids, written as lower-case hexadecimal
// strings, with an optional bloom filter. It has no dictionary: ids that repeat
// do so nearby, where compression finds them at less cost than their indexes
// have.
type ID struct {
	*Text
	bloom  bool
	hashes []uint64        // of the values of this row group
	recent [1 << 10]uint64 // hashes put lately, each at the place of its low bits
	prev   []byte          // the last id, as it was given
	hex    []byte          // and as it was put
}

// bloomBits is the size of a bloom filter per value: about one percent of
// absent values pass.
const bloomBits = 10

// ID adds a column of ids.
func (t *Table) ID(name string, withBloom bool) *ID {
	t.schema.fields++
	t.schema.text(name, false)
	c := &ID{bloom: withBloom, Text: &Text{t: t, chunk: t.newChunk(chunk{path: []string{name}, typ: format.ByteArray})}}
	t.add(c)
	return c
}

// Add puts the row's id. An empty one is an empty string.
func (c *ID) Add(id []byte) {
	if string(id) != string(c.prev) || len(c.hashes) == 0 && c.bloom {
		c.prev = append(c.prev[:0], id...)
		c.hex = appendHex(c.hex[:0], id)
		if c.bloom {
			c.hash()
		}
	}
	c.addValid(c.hex)
}

// hash notes the id for the bloom filter, unless it did so lately: a filter is
// sized by the hashes that it is given.
func (c *ID) hash() {
	h := bloom.XXH64{}.Sum64(c.hex)
	if seen := &c.recent[h%uint64(len(c.recent))]; *seen != h {
		*seen = h
		c.hashes = append(c.hashes, h)
	}
}

func (c *ID) held() int { return c.Text.held() + 8*cap(c.hashes) }

func (c *ID) reset() {
	c.Text.reset()
	c.hashes = c.hashes[:0]
	clear(c.recent[:])
}

func (c *ID) finish(t *Table) {
	if !c.bloom {
		return
	}
	f := make(bloom.SplitBlockFilter, bloom.NumSplitBlocksOf(int64(len(c.hashes)), bloomBits))
	f.InsertBulk(c.hashes)
	c.chunk.bloom = append(t.bloomHeader(c.chunk.bloom[:0], len(f.Bytes())), f.Bytes()...)
}

func appendHex(dst, src []byte) []byte {
	const digits = "0123456789abcdef"
	at := len(dst)
	dst = slices.Grow(dst, 2*len(src))[:at+2*len(src)]
	out := dst[at:]
	for i, x := range src {
		out[2*i], out[2*i+1] = digits[x>>4], digits[x&15]
	}
	return dst
}
