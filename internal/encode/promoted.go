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
	move   bool
	moved  moved
	label  *parquet.OptionalLabel
	number *parquet.OptionalNumber
	bit    *parquet.OptionalBool
}

func newPromotedRow(t *parquet.Table, c Column) promotedRow {
	p := promotedRow{key: c.Attribute, kind: c.kind(), move: c.Move}
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

// set puts v, which is of the column's kind, into the column, unless the record
// has a value in it already.
func (p *promotedRow) set(v otlp.Value) bool {
	switch p.kind {
	case otlp.Int, otlp.Double:
		return p.number.Set(v.Bits())
	case otlp.Bool:
		return p.bit.Set(v.Bool())
	}
	return p.label.Set(v.Raw)
}

// setCopy is set for the value of the entry of a map that was begun, which it
// ends.
func (p *promotedRow) setCopy(m *parquet.Map, v otlp.Value) bool {
	switch {
	case p.label != nil:
		return p.label.SetCopy(m, v.Raw)
	case p.kind == otlp.Int:
		return p.number.SetCopy(m, v.Int())
	}
	return false
}

// moved is a value that was taken out of a map for a column that moves. Who reads
// the object puts it back, unless the map has a value of another kind that the
// column may be a copy of. So if one comes, what was moved goes back before it.
type moved struct {
	value otlp.Value
	row   int // or entry, from 1; 0 = none
}

// back returns whether v, which is own as the column's kind, looks as if the
// column were a copy of it, though its value was moved.
func (m *moved) back(row int, v, own otlp.Value) bool {
	if m.row != row || v.Kind == own.Kind || m.value.Bits() != own.Bits() {
		return false
	}
	m.row = 0
	return true
}

// promotedRun is the column of a promoted attribute of resources or scopes.
type promotedRun struct {
	key    string
	kind   otlp.Kind
	move   bool
	moved  moved
	taken  bool // the entry under construction has a value
	label  *parquet.RunLabel
	number *parquet.RunNumber
	bit    *parquet.RunBool
}

func newPromotedRun(s *parquet.RunSet, key string, c Column) promotedRun {
	p := promotedRun{key: key, kind: c.kind(), move: c.Move}
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

// set is promotedRow.set for an entry.
func (p *promotedRun) set(v otlp.Value) bool {
	if p.taken {
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
	p.moved = moved{}
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
