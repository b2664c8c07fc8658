package parquet

import (
	"bytes"
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const magic = "PAR1"

// Schema is what a footer says about a Table's columns.
type Schema struct {
	elements []format.SchemaElement
	leaves   []leaf
	sorting  []format.SortingColumn
	codec    format.CompressionCodec
}

type leaf struct {
	path     []string
	typ      format.Type
	levels   bool
	constant bool
}

// Schema returns the table's schema. sortedBy names the required columns that
// the rows of every row group are sorted by, ascending.
func (t *Table) Schema(sortedBy ...string) Schema {
	s := Schema{elements: t.schema.root(), codec: t.comp.codec()}
	for _, c := range t.chunks {
		s.leaves = append(s.leaves, leaf{path: c.path, typ: c.typ, levels: c.optional || c.repeated, constant: c.constant})
	}
	for _, name := range sortedBy {
		for i, l := range s.leaves {
			if len(l.path) == 1 && l.path[0] == name {
				s.sorting = append(s.sorting, format.SortingColumn{ColumnIdx: int32(i)})
			}
		}
	}
	return s
}

// Meta is what a footer says beside the columns.
type Meta struct {
	CreatedBy string
	KeyValues []format.KeyValue
	Constants []string // the values of the constant columns, in their order
}

// Assemble joins row groups, written by tables of this schema, into a file. It
// returns the file as segments, which share the row groups' memory.
func (s Schema) Assemble(meta Meta, groups []*RowGroup) [][]byte {
	segments := [][]byte{[]byte(magic)}
	f := format.FileMetaData{
		Version: 2, Schema: s.elements, CreatedBy: meta.CreatedBy, KeyValueMetadata: meta.KeyValues,
	}
	for range s.leaves {
		f.ColumnOrders = append(f.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	at := int64(len(magic))
	whole := make([]*RowGroup, len(groups))
	for i, g := range groups {
		var constants []byte
		whole[i], constants = s.withConstants(g, meta.Constants)
		f.RowGroups = append(f.RowGroups, s.rowGroup(whole[i], at, i))
		f.NumRows += int64(g.Rows)
		segments = append(segments, g.data)
		if len(constants) > 0 {
			segments = append(segments, constants)
		}
		at += int64(len(g.data) + len(constants))
	}
	return append(segments, s.tail(&f, whole, at))
}

// tail returns what follows the row groups: indexes, footer, magic.
func (s Schema) tail(f *format.FileMetaData, groups []*RowGroup, at int64) []byte {
	var b bytes.Buffer
	for i, g := range groups {
		for j := range g.columns {
			if g.columns[j].bounds == nil {
				continue
			}
			from := b.Len()
			marshal(&b, columnIndex(s.leaves[j].typ, &g.columns[j]))
			c := &f.RowGroups[i].Columns[j]
			c.ColumnIndexOffset, c.ColumnIndexLength = at+int64(from), int32(b.Len()-from)
		}
	}
	for i, g := range groups {
		for j := range g.columns {
			from := b.Len()
			c := &f.RowGroups[i].Columns[j]
			marshal(&b, offsetIndex(&g.columns[j], c.MetaData.DataPageOffset))
			c.OffsetIndexOffset, c.OffsetIndexLength = at+int64(from), int32(b.Len()-from)
		}
	}
	from := b.Len()
	marshal(&b, f)
	n := b.Len() - from
	tail := binary.LittleEndian.AppendUint32(b.Bytes(), uint32(n))
	return append(tail, magic...)
}

func (s Schema) rowGroup(g *RowGroup, at int64, ordinal int) format.RowGroup {
	r := format.RowGroup{
		NumRows: int64(g.Rows), FileOffset: at, Ordinal: int16(ordinal), SortingColumns: s.sorting,
		Columns: make([]format.ColumnChunk, len(g.columns)),
	}
	for i := range g.columns {
		c := &g.columns[i]
		r.TotalByteSize += int64(c.raw)
		r.TotalCompressedSize += int64(c.size)
		r.Columns[i].MetaData = s.column(s.leaves[i], c, at)
	}
	return r
}

func (s Schema) column(l leaf, c *columnMeta, at int64) format.ColumnMetaData {
	codec := s.codec
	if l.constant {
		codec = format.Uncompressed
	}
	m := format.ColumnMetaData{
		Type: l.typ, PathInSchema: l.path, Codec: codec, NumValues: int64(c.values),
		TotalUncompressedSize: int64(c.raw), TotalCompressedSize: int64(c.size),
		DataPageOffset: at + int64(c.data), Statistics: format.Statistics{NullCount: int64(c.nulls)},
	}
	if c.dictionary >= 0 {
		m.DictionaryPageOffset = at + int64(c.dictionary)
		m.EncodingStats = append(m.EncodingStats, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
	}
	if c.bloomLen > 0 {
		m.BloomFilterOffset, m.BloomFilterLength = at+int64(c.bloom), int32(c.bloomLen)
	}
	for e, n := range c.counts {
		e := format.Encoding(e)
		if n > 0 || e == format.Plain && c.dictionary >= 0 || e == format.RLE && l.levels {
			m.Encoding = append(m.Encoding, e)
		}
		if n > 0 {
			m.EncodingStats = append(m.EncodingStats, format.PageEncodingStats{PageType: format.DataPage, Encoding: e, Count: n})
		}
	}
	b := span(l.typ, c.bounds)
	m.Statistics.MinValue, m.Statistics.MaxValue = b.min, b.max
	return m
}

func columnIndex(typ format.Type, c *columnMeta) *format.ColumnIndex {
	x := &format.ColumnIndex{BoundaryOrder: boundaryOrder(typ, c.bounds)}
	for i, b := range c.bounds {
		x.NullPages = append(x.NullPages, b.min == nil)
		x.MinValues = append(x.MinValues, b.min)
		x.MaxValues = append(x.MaxValues, b.max)
		x.NullCounts = append(x.NullCounts, int64(c.pages[i].nulls))
	}
	return x
}

func offsetIndex(c *columnMeta, at int64) *format.OffsetIndex {
	x := &format.OffsetIndex{PageLocations: make(thrift.Slice[format.PageLocation], len(c.pages))}
	for i, p := range c.pages {
		x.PageLocations[i] = format.PageLocation{
			Offset: at + int64(p.off), CompressedPageSize: int32(p.size), FirstRowIndex: int64(p.firstRow),
		}
	}
	return x
}
