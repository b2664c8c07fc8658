package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// kindOf returns the kind of value that a column's type takes.
func (c Column) kind() otlp.Kind {
	switch c.Type {
	case "int64":
		return otlp.Int
	case "double":
		return otlp.Double
	case "bool":
		return otlp.Bool
	}
	return otlp.String
}

// promotedRow is the column of a promoted attribute of records.
type promotedRow struct {
	key    string
	kind   otlp.Kind
	label  *parquet.OptionalLabel
	number *parquet.OptionalNumber
	bit    *parquet.OptionalBool
}

func newPromotedRow(t *parquet.Table, c Column) promotedRow {
	p := promotedRow{key: c.Attribute, kind: c.kind()}
	switch p.kind {
	case otlp.Int:
		p.number = t.OptionalInt64(c.As)
	case otlp.Double:
		p.number = t.OptionalDouble(c.As)
	case otlp.Bool:
		p.bit = t.OptionalBool(c.As)
	default:
		p.label = t.OptionalLabel(c.As)
	}
	return p
}

// take puts v into the column, unless it is of another type or the record has
// a value in it already.
func (p *promotedRow) take(v otlp.Value) bool {
	if v.Kind != p.kind {
		return false
	}
	switch p.kind {
	case otlp.Int, otlp.Double:
		return p.number.Set(v.Bits())
	case otlp.Bool:
		return p.bit.Set(v.Bool())
	}
	return p.label.Set(v.Raw)
}

// promotedRun is the column of a promoted attribute of resources or scopes.
type promotedRun struct {
	key    string
	kind   otlp.Kind
	taken  bool // the entry under construction has a value
	label  *parquet.RunLabel
	number *parquet.RunNumber
	bit    *parquet.RunBool
}

func newPromotedRun(s *parquet.RunSet, key string, c Column) promotedRun {
	p := promotedRun{key: key, kind: c.kind()}
	switch p.kind {
	case otlp.Int:
		p.number = s.OptionalInt64(c.As)
	case otlp.Double:
		p.number = s.OptionalDouble(c.As)
	case otlp.Bool:
		p.bit = s.OptionalBool(c.As)
	default:
		p.label = s.OptionalLabel(c.As)
	}
	return p
}

// take is promotedRow.take for an entry.
func (p *promotedRun) take(key []byte, v otlp.Value) bool {
	if p.taken || v.Kind != p.kind || string(key) != p.key {
		return false
	}
	p.taken = true
	switch p.kind {
	case otlp.Int, otlp.Double:
		p.number.Add(v.Bits())
	case otlp.Bool:
		p.bit.Add(v.Bool())
	default:
		p.label.Add(v.Raw)
	}
	return true
}

// end closes the entry.
func (p *promotedRun) end() {
	if p.taken {
		p.taken = false
		return
	}
	switch p.kind {
	case otlp.Int, otlp.Double:
		p.number.Null()
	case otlp.Bool:
		p.bit.Null()
	default:
		p.label.Null()
	}
}
