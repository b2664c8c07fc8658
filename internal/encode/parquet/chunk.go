package parquet

import (
	"hash/crc32"

	"github.com/parquet-go/parquet-go/format"
)

// chunk is the column chunk of one leaf while its row group is built.
type chunk struct {
	path     []string
	typ      format.Type
	optional bool // has definition levels
	repeated bool // has both kinds of levels
	indexed  bool // has statistics and a column index
	constant bool // is made when the file is assembled

	out    []byte // the finished data pages, each behind its header
	pages  []page
	bounds []bound // one per page, if indexed

	rows   int
	values int
	nulls  int
	raw    int // size of the pages before compression, with headers
	counts [format.RLEDictionary + 1]int32
	bloom  []byte // header and filter
	dict   []byte // the dictionary page, behind its header
	noMin  bool   // a value without order (NaN) was met: no statistics
}

// page is a data page: where it lies and what it holds.
type page struct {
	off, size int // with its header, from the start of the chunk's data pages
	firstRow  int
	nulls     int
}

// bound is the smallest and largest value of a page or chunk; nil where there
// are only nulls.
type bound struct{ min, max []byte }

func (c *chunk) reset() {
	c.out, c.pages, c.bounds = c.out[:0], c.pages[:0], c.bounds[:0]
	c.rows, c.values, c.nulls, c.raw = 0, 0, 0, 0
	c.counts = [len(c.counts)]int32{}
	c.bloom, c.dict, c.noMin = c.bloom[:0], c.dict[:0], false
}

func (c *chunk) held() int { return cap(c.out) + cap(c.dict) + cap(c.bloom) }

// content says what a data page holds beside its bytes.
type content struct {
	encoding format.Encoding
	rows     int
	values   int // levels, where there are any
	nulls    int
	bound    bound
}

// writePage compresses body, which has the levels and values of a data page,
// and appends it to the chunk.
func (t *Table) writePage(c *chunk, body []byte, p content) {
	t.compressed = t.comp.compress(t.compressed[:0], body)
	at := len(c.out)
	c.out = appendDataHeader(c.out, body, t.compressed, p)
	header := len(c.out) - at
	c.out = append(c.out, t.compressed...)
	c.pages = append(c.pages, page{off: at, size: len(c.out) - at, firstRow: c.rows, nulls: p.nulls})
	if c.indexed {
		c.bounds = append(c.bounds, p.bound.truncated(c.typ))
	}
	c.rows += p.rows
	c.values += p.values
	c.nulls += p.nulls
	c.raw += header + len(body)
	c.counts[p.encoding]++
	if t.onPage != nil {
		t.onPage(body)
	}
}

// writeDictionary compresses the PLAIN values of a dictionary.
func (t *Table) writeDictionary(c *chunk, body []byte, values int) {
	t.compressed = t.comp.compress(t.compressed[:0], body)
	c.dict = appendDictionaryHeader(c.dict[:0], body, t.compressed, values)
	header := len(c.dict)
	c.dict = append(c.dict, t.compressed...)
	c.raw += header + len(body)
	if t.onPage != nil {
		t.onPage(body)
	}
}

// Thrift compact field headers: the difference to the field before, and the
// type (5: i32, 12: struct).
const (
	i32After1    = 1<<4 | 5
	structAfter1 = 1<<4 | 12
	structAfter3 = 3<<4 | 12
)

// appendDataHeader appends a format.PageHeader for a data page V1. It is
// written by hand because there is one per page of every column.
func appendDataHeader(dst, body, compressed []byte, p content) []byte {
	dst = appendPageHeader(dst, format.DataPage, body, compressed)
	dst = append(dst, structAfter1)
	dst = appendI32(dst, int32(p.values))
	dst = appendI32(dst, int32(p.encoding))
	dst = appendI32(dst, int32(format.RLE))
	dst = appendI32(dst, int32(format.RLE))
	return append(dst, 0, 0)
}

func appendDictionaryHeader(dst, body, compressed []byte, values int) []byte {
	dst = appendPageHeader(dst, format.DictionaryPage, body, compressed)
	dst = append(dst, structAfter3)
	dst = appendI32(dst, int32(values))
	dst = appendI32(dst, int32(format.Plain))
	return append(dst, 0, 0)
}

func appendPageHeader(dst []byte, typ format.PageType, body, compressed []byte) []byte {
	dst = appendI32(dst, int32(typ))
	dst = appendI32(dst, int32(len(body)))
	dst = appendI32(dst, int32(len(compressed)))
	return appendI32(dst, int32(crc32.ChecksumIEEE(compressed)))
}

// appendI32 appends the i32 field that follows the last one.
func appendI32(dst []byte, v int32) []byte {
	dst = append(dst, i32After1)
	u := uint32(v)<<1 ^ uint32(v>>31)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}
