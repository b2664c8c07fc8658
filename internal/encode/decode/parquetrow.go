package decode

import (
	"encoding/binary"
	"fmt"
	"math"

	pq "github.com/parquet-go/parquet-go"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// parquetRow is a row of a Parquet object, or a struct in a list of it.
type parquetRow struct {
	*faults
	fields []leaves
	cells  [][]pq.Value // by leaf
}

// one returns the row's value of a column that is no list.
func (r *parquetRow) one(leaf int) (pq.Value, bool) {
	if leaf < 0 || len(r.cells[leaf]) != 1 || r.cells[leaf][0].IsNull() {
		return pq.Value{}, false
	}
	return r.cells[leaf][0], true
}

func (r *parquetRow) cell(leaf int) string {
	v, ok := r.one(leaf)
	if !ok {
		return ""
	}
	return string(v.ByteArray())
}

func (r *parquetRow) text(f int) string { return r.cell(r.fields[f].one) }

func (r *parquetRow) number(f int) int64 {
	n, _ := r.optional(f)
	return n
}

func (r *parquetRow) optional(f int) (int64, bool) {
	v, ok := r.one(r.fields[f].one)
	if !ok {
		return 0, false
	}
	return bits(v), true
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

func (r *parquetRow) value(f int, to pcommon.Value) {
	l := &r.fields[f]
	kind := r.cell(l.types)
	if len(kind) != 1 {
		r.fail(malformed("%s has the type %q", l.name, short(kind)))
		return
	}
	r.fail(setText(to, otlp.Kind(kind[0]), r.cell(l.one)))
}

func (r *parquetRow) numbers(f int, visit func(int64)) {
	leaf := r.fields[f].one
	if leaf < 0 {
		return
	}
	cells := r.cells[leaf]
	if len(cells) == 1 && cells[0].DefinitionLevel() == 0 {
		return // how Parquet has an empty list
	}
	for _, v := range cells {
		if v.IsNull() {
			r.fail(malformed("%s has a null", r.fields[f].name))
			return
		}
		visit(bits(v))
	}
}

func (r *parquetRow) each(f int, visit func(row)) {
	list := &r.fields[f]
	empty := 0
	for i, leaf := range list.all {
		list.rest[i] = r.cells[leaf]
		if len(r.cells[leaf]) == 1 && r.cells[leaf][0].DefinitionLevel() == 0 {
			empty++
		}
	}
	if empty == len(list.all) {
		return
	}
	element := &parquetRow{faults: r.faults, fields: list.of, cells: r.cells}
	for more := empty == 0; more; {
		ended := 0
		for i, leaf := range list.all {
			n := elementCells(list.rest[i])
			if n == 0 {
				more = false
				break
			}
			if r.cells[leaf], list.rest[i] = list.rest[i][:n], list.rest[i][n:]; len(list.rest[i]) == 0 {
				ended++
			}
		}
		if !more {
			break
		}
		visit(element)
		if ended == len(list.all) {
			return
		}
	}
	r.fail(malformed("the columns of %s have not as many elements each", list.name))
}

// elementCells returns how many cells the first element of a list has.
func elementCells(cells []pq.Value) int {
	for i := range cells {
		if i > 0 && cells[i].RepetitionLevel() <= 1 {
			return i
		}
	}
	return len(cells)
}

// appendKey appends what tells the row's fields apart from those of others.
func (r *parquetRow) appendKey(dst []byte, fields []int) []byte {
	for _, f := range fields {
		for _, leaf := range r.fields[f].all {
			dst = appendCells(dst, r.cells[leaf])
		}
	}
	return dst
}

func appendCells(dst []byte, cells []pq.Value) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(cells)))
	for _, v := range cells {
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
	return dst
}

func (r *parquetRow) attributes(f int, to pcommon.Map) {
	l := &r.fields[f]
	var kvs attributes
	for _, p := range l.promoted {
		v, ok := r.one(p.leaf)
		if !ok || r.copied(l, p, bits(v)) {
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
	r.fail(r.entries(l, &kvs))
	kvs.into(to)
}

// copied tells whether the value of a column that moves, with the given bits, is
// a copy of an entry of the map that is of another kind.
func (r *parquetRow) copied(l *leaves, p promoted, bits int64) bool {
	if p.kind == otlp.String || l.one < 0 || l.values < 0 {
		return false
	}
	letters, values := r.cell(l.types), r.cells[l.values]
	for i, k := range r.cells[l.one] {
		if i >= len(letters) || i >= len(values) || otlp.Kind(letters[i]) == p.kind || string(k.ByteArray()) != p.key {
			continue
		}
		if own, ok := otlp.FromText(otlp.Kind(letters[i]), values[i].ByteArray()).As(p.kind); ok && own.Bits() == bits {
			return true
		}
	}
	return false
}

// entries adds the entries of a map.
func (r *parquetRow) entries(l *leaves, kvs *attributes) error {
	if l.one < 0 || l.values < 0 {
		return nil
	}
	keys, values, letters := r.cells[l.one], r.cells[l.values], r.cell(l.types)
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
