package parquet

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	pq "github.com/parquet-go/parquet-go"
)

func testTable(t testing.TB, codec Codec) *Table {
	t.Helper()
	table, err := NewTable(Config{Codec: codec, PageRows: 1000, PageBytes: 4096, DictBytes: 2048})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// testFile has columns of every sort in two row groups of several pages.
func testFile(t testing.TB, codec Codec) ([]byte, int) {
	t.Helper()
	table := testTable(t, codec)
	ts := table.Timestamp("ts")
	label := table.Label("label", true)
	id := table.ID("id", true)
	number := table.OptionalInt64("number")
	tags := table.Map("tags", func([]byte) int32 { return 0 })
	set := table.RunSet()
	service := set.Label("service", true)
	host := set.OptionalLabel("host")
	var groups []*RowGroup
	rows := 0
	for g := range 2 {
		for e := range 3 {
			service.Add(fmt.Appendf(nil, "service %d", e))
			if e == 1 {
				host.Null()
			} else {
				host.Add([]byte("h"))
			}
			entry := set.Commit()
			for i := range 1700 {
				ts.Add(int64(rows))
				label.Add(fmt.Appendf(nil, "label %d", i%(50+5000*g))) // the second group outgrows its dictionary
				id.Add([]byte{byte(rows), byte(rows >> 8), byte(g)})
				if i%3 == 0 {
					number.Set(int64(i % 7))
				}
				for k := range i % 3 {
					key := fmt.Appendf(nil, "key %d", k)
					tags.Key(tags.Find(key), key)
					tags.Int(int64(i))
				}
				tags.EndRow()
				table.EndRow(10)
				rows++
			}
			set.Repeat(entry, 1700)
		}
		groups = append(groups, table.Finish())
	}
	if table.Finish() != nil {
		t.Error("a table without rows has a row group")
	}
	segments := table.Schema("service").Assemble(Meta{CreatedBy: "test version 1"}, groups)
	return bytes.Join(segments, nil), rows
}

// Every page of every chunk, by its header: types, sizes, CRC, and that the
// chunk's totals and the offset index agree with them.
func TestPagesAgreeWithTheFooter(t *testing.T) {
	for _, codec := range []Codec{ZstdFastest, ZstdDefault, Snappy, Uncompressed} {
		file, _ := testFile(t, codec)
		f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		indexes := f.OffsetIndexes()
		for g, rg := range f.Metadata().RowGroups {
			total := int64(0)
			for i := range rg.Columns {
				m := &rg.Columns[i].MetaData
				checkChunk(t, file, m, indexes[g*len(rg.Columns)+i], rg.NumRows)
				total += m.TotalCompressedSize
			}
			if total != rg.TotalCompressedSize {
				t.Errorf("row group %d says %d bytes, its chunks have %d", g, rg.TotalCompressedSize, total)
			}
		}
	}
}

func checkChunk(t *testing.T, file []byte, m *format.ColumnMetaData, index format.OffsetIndex, rows int64) {
	t.Helper()
	name := strings.Join(m.PathInSchema, ".")
	at := m.DataPageOffset
	if m.DictionaryPageOffset > 0 {
		at = m.DictionaryPageOffset
	}
	from := at
	end := at + m.TotalCompressedSize
	raw, values, pages := int64(0), int64(0), 0
	for at < end {
		var h format.PageHeader
		var p thrift.CompactProtocol
		r := bytes.NewReader(file[at:end])
		if err := thrift.NewDecoder(p.NewReader(r)).Decode(&h); err != nil {
			t.Fatalf("%s: page at %d: %v", name, at, err)
		}
		header := end - at - int64(r.Len())
		content := file[at+header : at+header+int64(h.CompressedPageSize)]
		if uint32(h.CRC) != crc32.ChecksumIEEE(content) {
			t.Errorf("%s: page at %d has a wrong CRC", name, at)
		}
		switch h.Type {
		case format.DictionaryPage:
			if at != from || !h.DictionaryPageHeader.Valid || h.DictionaryPageHeader.V.Encoding != format.Plain {
				t.Errorf("%s: dictionary page at %d: %+v", name, at, h)
			}
		case format.DataPage:
			if loc := index.PageLocations[pages]; loc.Offset != at || int64(loc.CompressedPageSize) != header+int64(h.CompressedPageSize) {
				t.Errorf("%s: page %d at %d, the offset index says %+v", name, pages, at, loc)
			}
			values += int64(h.DataPageHeader.V.NumValues)
			pages++
		}
		raw += header + int64(h.UncompressedPageSize)
		at += header + int64(h.CompressedPageSize)
	}
	if at != end || raw != m.TotalUncompressedSize || values != m.NumValues || pages != len(index.PageLocations) {
		t.Errorf("%s: %d bytes, %d raw, %d values, %d pages; the footer says %+v", name, at-from, raw, values, pages, m)
	}
	if last := index.PageLocations[pages-1].FirstRowIndex; last >= rows || pages < 2 {
		t.Errorf("%s: %d pages, the last from row %d of %d", name, pages, last, rows)
	}
}

func TestFooterClaimsOnlyWhatIsTrue(t *testing.T) {
	file, rows := testFile(t, ZstdFastest)
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if f.NumRows() != int64(rows) {
		t.Errorf("%d rows, want %d", f.NumRows(), rows)
	}
	for g, rg := range f.RowGroups() {
		meta := f.Metadata().RowGroups[g]
		if s := meta.SortingColumns; len(s) != 1 || meta.Columns[s[0].ColumnIdx].MetaData.PathInSchema[0] != "service" || s[0].Descending {
			t.Errorf("sorted by %+v", s)
		}
		for i, c := range rg.ColumnChunks() {
			checkBounds(t, f, c, &meta.Columns[i])
		}
	}
}

// checkBounds reads a chunk and compares it with its statistics, its column
// index and its bloom filter.
func checkBounds(t *testing.T, f *pq.File, c pq.ColumnChunk, meta *format.ColumnChunk) {
	t.Helper()
	m := &meta.MetaData
	name := strings.Join(m.PathInSchema, ".")
	indexed := map[string]bool{"ts": true, "label": true, "number": true, "service": true, "host": true}[name]
	if (m.Statistics.MinValue != nil) != indexed || (meta.ColumnIndexLength > 0) != indexed {
		t.Errorf("%s: statistics %q, column index of %d bytes", name, m.Statistics.MinValue, meta.ColumnIndexLength)
	}
	filter := c.BloomFilter()
	if (filter != nil) != (name == "id") {
		t.Errorf("%s: bloom filter is %v", name, filter)
	}
	index, err := c.ColumnIndex()
	if err != nil && indexed {
		t.Fatal(err)
	}
	nulls := int64(0)
	pages := c.Pages()
	defer pages.Close()
	for n := 0; ; n++ {
		p, err := pages.ReadPage()
		if err != nil {
			break
		}
		values := make([]pq.Value, p.NumValues())
		if _, err := p.Values().ReadValues(values); err != nil && err.Error() != "EOF" {
			t.Fatal(err)
		}
		for _, v := range values {
			if v.IsNull() {
				nulls++
				continue
			}
			if indexed && (c.Type().Compare(v, index.MinValue(n)) < 0 || c.Type().Compare(v, index.MaxValue(n)) > 0) {
				t.Fatalf("%s: %v of page %d is not within %v and %v", name, v, n, index.MinValue(n), index.MaxValue(n))
			}
			if filter != nil {
				if ok, err := filter.Check(v); err != nil || !ok {
					t.Fatalf("%s: %v is not in the bloom filter (%v)", name, v, err)
				}
			}
		}
	}
	if nulls != m.Statistics.NullCount {
		t.Errorf("%s: %d nulls, the statistics say %d", name, nulls, m.Statistics.NullCount)
	}
}

func TestBloomFilterIsSizedByItsValues(t *testing.T) {
	table := testTable(t, ZstdFastest)
	id := table.ID("id", true)
	for i := range 1000 {
		id.Add([]byte{byte(i % 4)})
		table.EndRow(1)
	}
	g := table.Finish()
	if want := bloom.NumSplitBlocksOf(4, bloomBits) * bloom.BlockSize; g.columns[0].bloomLen > want+32 {
		t.Errorf("4 values have a filter of %d bytes, want %d and a header", g.columns[0].bloomLen, want)
	}
}

func TestUnknownCodec(t *testing.T) {
	if _, err := NewTable(Config{Codec: "lzo"}); err == nil {
		t.Error("codec lzo is accepted")
	}
}
