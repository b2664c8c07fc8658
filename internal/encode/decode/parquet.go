package decode

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	pq "github.com/parquet-go/parquet-go"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// rowsAtOnce is how many rows are read from a row group at once.
const rowsAtOnce = 64

// parquetRows is the rows of a Parquet object, one at a time.
type parquetRows struct {
	file   *pq.File
	groups []pq.RowGroup // not read yet
	rows   pq.Rows       // of the group that is read; nil before and after
	buf    []pq.Row
	at, n  int
	cells  [][]pq.Value // of the current row, by leaf
}

// openParquet opens an object and checks that it is one of signal, of a schema
// that is known.
func openParquet(o Object, signal partition.Signal) (r *parquetRows, columns []encode.Column, err error) {
	defer recovered(&err)
	in := &source{r: o.Content}
	f, err := pq.OpenFile(in, o.Size, pq.SkipBloomFilters(true), pq.SkipPageIndex(true))
	if err != nil {
		return nil, nil, in.blame(err)
	}
	if s, _ := f.Lookup("s3window.signal"); s != string(signal) {
		return nil, nil, malformed("its footer says that it is of signal %q, not %q", s, signal)
	}
	schema, _ := f.Lookup("s3window.schema")
	if n, err := strconv.Atoi(schema); err != nil || n > encode.SchemaVersion() {
		return nil, nil, fmt.Errorf("the object has schema %q, this version knows up to %d", schema, encode.SchemaVersion())
	}
	if text, ok := f.Lookup(encode.ColumnsKey); ok {
		if err := json.Unmarshal([]byte(text), &columns); err != nil {
			return nil, nil, malformed("the columns in its footer: %w", err)
		}
	}
	r = &parquetRows{file: f, groups: f.RowGroups(), buf: make([]pq.Row, rowsAtOnce)}
	r.cells = make([][]pq.Value, len(f.Schema().Columns()))
	return r, columns, nil
}

// recovered turns a panic into an error: the Parquet library answers some
// malformed files with one.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = malformed("%v", p)
	}
}

// source remembers whether reading itself failed, to tell that from content
// that does not decode.
type source struct {
	r   io.ReaderAt
	err error
}

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.r.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// blame says whose fault err is.
func (s *source) blame(err error) error {
	if err == nil || s.err != nil {
		return err
	}
	return malformed("%w", err)
}

// next moves to the next row.
func (r *parquetRows) next() (more bool, err error) {
	defer recovered(&err)
	for r.at == r.n {
		if r.rows == nil {
			if len(r.groups) == 0 {
				return false, nil
			}
			r.rows, r.groups = r.groups[0].Rows(), r.groups[1:]
		}
		n, err := r.rows.ReadRows(r.buf)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, malformed("%w", err)
		}
		if r.at, r.n = 0, n; n == 0 {
			r.close()
		}
	}
	clear(r.cells)
	r.buf[r.at].Range(func(leaf int, values []pq.Value) bool {
		r.cells[leaf] = values
		return true
	})
	r.at++
	return true, nil
}

func (r *parquetRows) close() {
	if r.rows != nil {
		r.rows.Close()
		r.rows = nil
	}
}

// leaf returns the number of a leaf, or -1 if the object has no such column. It
// must be of one of the kinds.
func (r *parquetRows) leaf(kinds []pq.Kind, path ...string) (int, error) {
	c, ok := r.file.Schema().Lookup(path...)
	if !ok {
		return -1, nil
	}
	for _, k := range kinds {
		if c.Node.Type().Kind() == k {
			return c.ColumnIndex, nil
		}
	}
	return -1, malformed("column %q is of type %s", path[0], c.Node.Type())
}

// one returns the row's value of a column that is no list.
func (r *parquetRows) one(leaf int) (pq.Value, bool) {
	if leaf < 0 || len(r.cells[leaf]) != 1 || r.cells[leaf][0].IsNull() {
		return pq.Value{}, false
	}
	return r.cells[leaf][0], true
}

func (r *parquetRows) text(leaf int) string {
	v, ok := r.one(leaf)
	if !ok {
		return ""
	}
	return string(v.ByteArray())
}

func (r *parquetRows) number(leaf int) int64 {
	v, ok := r.one(leaf)
	if !ok {
		return 0
	}
	return bits(v)
}

// bits returns the value of any column of numbers as an int64 with its bits.
func bits(v pq.Value) int64 {
	switch v.Kind() {
	case pq.Int32:
		return int64(v.Int32())
	case pq.Double:
		return int64(math.Float64bits(v.Double()))
	case pq.Boolean:
		if v.Boolean() {
			return 1
		}
		return 0
	}
	return v.Int64()
}

// appendCells appends what tells the row's values of leaves apart from others.
func (r *parquetRows) appendCells(dst []byte, leaves []int) []byte {
	for _, leaf := range leaves {
		if leaf < 0 {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(r.cells[leaf])))
		for _, v := range r.cells[leaf] {
			switch {
			case v.IsNull():
				dst = append(dst, 0)
			case v.Kind() == pq.ByteArray:
				b := v.ByteArray()
				dst = append(binary.AppendUvarint(append(dst, 1), uint64(len(b))), b...)
			default:
				dst = binary.LittleEndian.AppendUint64(append(dst, 1), uint64(bits(v)))
			}
		}
	}
	return dst
}

// parquetMap is the columns that attributes were spread over.
type parquetMap struct {
	keys, values, types int
	promoted            []promoted
}

type promoted struct {
	key  string
	kind otlp.Kind
	leaf int
}

func (r *parquetRows) mapColumns(name string) (m parquetMap, err error) {
	text := []pq.Kind{pq.ByteArray}
	var errs [3]error
	m.keys, errs[0] = r.leaf(text, name, "key_value", "key")
	m.values, errs[1] = r.leaf(text, name, "key_value", "value")
	m.types, errs[2] = r.leaf(text, name+"_types")
	return m, errors.Join(errs[:]...)
}

func (m *parquetMap) leaves() []int {
	out := []int{m.keys, m.values, m.types}
	for _, p := range m.promoted {
		out = append(out, p.leaf)
	}
	return out
}

// promote adds a promoted column.
func (r *parquetRows) promote(m *parquetMap, key string, c encode.Column) error {
	p, kind := promoted{key: key, kind: otlp.String}, pq.ByteArray
	switch c.Type {
	case "int64":
		p.kind, kind = otlp.Int, pq.Int64
	case "double":
		p.kind, kind = otlp.Double, pq.Double
	case "bool":
		p.kind, kind = otlp.Bool, pq.Boolean
	}
	var err error
	if p.leaf, err = r.leaf([]pq.Kind{kind}, c.As); err == nil && p.leaf < 0 {
		err = malformed("it has no column %q, which its footer says it has", c.As)
	}
	m.promoted = append(m.promoted, p)
	return err
}

// attributes fills to with the row's attributes.
func (r *parquetRows) attributes(to pcommon.Map, m *parquetMap) error {
	var kvs attributes
	for _, p := range m.promoted {
		v, ok := r.one(p.leaf)
		if !ok {
			continue
		}
		x := kvs.AppendEmpty(p.key)
		switch p.kind {
		case otlp.Int:
			x.SetInt(v.Int64())
		case otlp.Double:
			x.SetDouble(v.Double())
		case otlp.Bool:
			x.SetBool(v.Boolean())
		default:
			x.SetStr(string(v.ByteArray()))
		}
	}
	defer func() { kvs.into(to) }()
	if m.keys < 0 || m.values < 0 {
		return nil
	}
	keys, values, letters := r.cells[m.keys], r.cells[m.values], r.text(m.types)
	if len(keys) > 0 && keys[0].IsNull() {
		keys = nil // how Parquet has an empty map
	}
	if len(letters) != len(keys) || len(values) < len(keys) {
		return malformed("%d attributes have %d types and %d values", len(keys), len(letters), len(values))
	}
	for i, k := range keys {
		if k.IsNull() || values[i].IsNull() {
			return malformed("attribute %d is null", i)
		}
		v := kvs.AppendEmpty(string(k.ByteArray()))
		if err := setText(v, otlp.Kind(letters[i]), string(values[i].ByteArray())); err != nil {
			return fmt.Errorf("attribute %d: %w", i, err)
		}
	}
	return nil
}
