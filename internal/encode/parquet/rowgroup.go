package parquet

import (
	"bytes"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// RowGroup is a finished row group: its bytes, and what a file's footer says
// about them. Offsets count from the first byte.
type RowGroup struct {
	Rows    int
	data    []byte
	columns []columnMeta
}

// columnMeta is what the footer says about a column chunk.
type columnMeta struct {
	dictionary, data int // offsets; dictionary is -1 without one
	bloom, bloomLen  int // bloomLen is 0 without one
	size, raw        int // with headers, compressed and not
	values, nulls    int
	counts           [format.RLEDictionary + 1]int32 // data pages by encoding
	pages            []page                          // off counts from data
	bounds           []bound                         // by page; nil without a column index
}

// Data returns the row group's bytes.
func (g *RowGroup) Data() []byte { return g.data }

// Held returns about how many bytes of memory the row group holds.
func (g *RowGroup) Held() int {
	n := cap(g.data)
	for i := range g.columns {
		c := &g.columns[i]
		n += 160 + 32*cap(c.pages) + 48*cap(c.bounds)
		for _, b := range c.bounds {
			n += cap(b.min) + cap(b.max)
		}
	}
	return n
}

// rowGroup joins the finished chunks.
func (t *Table) rowGroup() *RowGroup {
	size, pages := 0, 0
	for _, c := range t.chunks {
		size += len(c.dict) + len(c.out) + len(c.bloom)
		pages += len(c.pages)
	}
	g := &RowGroup{Rows: t.rows, data: make([]byte, 0, size), columns: make([]columnMeta, len(t.chunks))}
	all := make([]page, 0, pages)
	for i, c := range t.chunks {
		m := columnMeta{
			dictionary: -1, size: len(c.dict) + len(c.out), raw: c.raw,
			values: c.values, nulls: c.nulls, counts: c.counts,
		}
		if len(c.dict) > 0 {
			m.dictionary = len(g.data)
			g.data = append(g.data, c.dict...)
		}
		m.data = len(g.data)
		g.data = append(g.data, c.out...)
		from := len(all)
		all = append(all, c.pages...)
		m.pages = all[from:len(all):len(all)]
		if c.indexed && !c.noMin {
			m.bounds = append([]bound(nil), c.bounds...)
		}
		g.columns[i] = m
	}
	for i, c := range t.chunks {
		if len(c.bloom) > 0 {
			g.columns[i].bloom, g.columns[i].bloomLen = len(g.data), len(c.bloom)
			g.data = append(g.data, c.bloom...)
		}
	}
	return g
}

// bloomHeader appends the header of a bloom filter of n bytes.
func (t *Table) bloomHeader(dst []byte, n int) []byte {
	var h format.BloomFilterHeader
	h.NumBytes = int32(n)
	h.Algorithm.Value = &format.SplitBlockAlgorithm{}
	h.Hash.Value = &format.XxHash{}
	h.Compression.Value = &format.BloomFilterUncompressed{}
	b := bytes.NewBuffer(dst)
	marshal(b, &h)
	return b.Bytes()
}

// marshal appends v in Thrift's compact protocol. It cannot fail: b takes
// every write, and v is a struct of package format.
func marshal(b *bytes.Buffer, v any) {
	var p thrift.CompactProtocol
	if err := thrift.NewEncoder(p.NewWriter(b)).Encode(v); err != nil {
		panic("parquet: marshal " + err.Error())
	}
}
