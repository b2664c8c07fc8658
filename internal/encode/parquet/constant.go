package parquet

import (
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// Constant adds a required column of strings that has one value in all rows of a
// file. It is said when the file is assembled: row groups do not have it.
func (t *Table) Constant(name string) {
	t.schema.fields++
	t.schema.text(name, false)
	t.newChunk(chunk{path: []string{name}, typ: format.ByteArray, indexed: true, constant: true})
}

// withConstants returns g with the constant columns behind its other ones, and
// their bytes. g is left as it is.
func (s Schema) withConstants(g *RowGroup, values []string) (*RowGroup, []byte) {
	var data []byte
	whole := &RowGroup{Rows: g.Rows, data: g.data, columns: slices.Clone(g.columns)}
	for i, l := range s.leaves {
		if l.constant {
			whole.columns[i], data = appendConstant(data, len(g.data), values[0], g.Rows)
			values = values[1:]
		}
	}
	return whole, data
}

// appendConstant appends a column chunk to dst, which stands at an offset: a
// dictionary of one value and a page of one run, not compressed.
func appendConstant(dst []byte, at int, value string, rows int) (columnMeta, []byte) {
	text := AppendMended(nil, []byte(value))
	m := columnMeta{dictionary: at + len(dst), values: rows}
	from := len(dst)
	entry := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	dst = append(appendDictionaryHeader(dst, entry, entry, 1), entry...)

	m.data = at + len(dst)
	begin := len(dst)
	w := width(1)
	body := binary.AppendUvarint([]byte{byte(w)}, uint64(rows)<<1)
	body = append(body, make([]byte, (w+7)/8)...)
	p := content{encoding: format.RLEDictionary, rows: rows, values: rows}
	dst = append(appendDataHeader(dst, body, body, p), body...)

	m.size, m.raw = len(dst)-from, len(dst)-from
	m.counts[format.RLEDictionary] = 1
	m.pages = []page{{size: len(dst) - begin}}
	m.bounds = []bound{bound{text, text}.truncated(format.ByteArray)}
	return m, dst
}
