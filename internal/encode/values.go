package encode

import (
	"math"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// anyColumn is the column of values of any kind, with that of their kinds.
type anyColumn struct {
	value *parquet.Text
	kind  *parquet.Label
	text  []byte
}

func newAnyColumn(t *parquet.Table, name string) anyColumn {
	return anyColumn{value: t.Text(name), kind: t.Label(name+"_type", false)}
}

// put puts the row's value. It returns a fault if it is malformed.
func (c *anyColumn) put(v otlp.Value) int {
	c.kind.Add([]byte{byte(v.Kind)})
	if v.Kind == otlp.String {
		c.value.Add(v.Raw)
		return 0
	}
	var at int
	if c.text, at = v.AppendText(c.text[:0]); at < 0 {
		return at
	}
	c.value.Add(c.text)
	return 0
}

func (c *anyColumn) held() int { return cap(c.text) }

// enumColumn is the column of numbers that have names.
type enumColumn struct {
	column *parquet.Label
	names  otlp.Enum
}

// put puts the row's value. It returns the scratch that it was given.
func (c *enumColumn) put(scratch []byte, n int32) []byte {
	scratch = c.names.Append(scratch[:0], n)
	c.column.Add(scratch)
	return scratch
}

// numberColumn is the columns of a number that is a double or an integer: the
// first has it either way.
type numberColumn struct{ double, integer *parquet.OptionalNumber }

func newNumberColumn(t *parquet.Table, name string) numberColumn {
	return numberColumn{t.OptionalDouble(name), t.OptionalInt64(name + "_int")}
}

func (c *numberColumn) put(has uint8, bits uint64) {
	switch {
	case has&otlp.HasDouble != 0:
		c.double.Set(int64(bits))
	case has&otlp.HasInt != 0:
		c.double.Set(int64(math.Float64bits(float64(int64(bits)))))
		c.integer.Set(int64(bits))
	}
}

// listNumberColumn is numberColumn for the elements of a list.
type listNumberColumn struct{ double, integer *parquet.ListOptionalNumber }

func newListNumberColumn(l *parquet.List, name string) listNumberColumn {
	return listNumberColumn{l.OptionalDouble(name), l.OptionalInt64(name + "_int")}
}

func (c *listNumberColumn) put(has uint8, bits uint64) {
	switch {
	case has&otlp.HasDouble != 0:
		c.double.Set(int64(bits))
	case has&otlp.HasInt != 0:
		c.double.Set(int64(math.Float64bits(float64(int64(bits)))))
		c.integer.Set(int64(bits))
	}
}

// putFixed64s puts a row's list.
func putFixed64s(c *parquet.NumberList, numbers otlp.Fixed64s) {
	for n := range numbers.All() {
		c.Add(int64(n))
	}
	c.EndRow()
}

// putVarints puts a row's list.
func putVarints(c *parquet.NumberList, numbers otlp.Varints) {
	for n := range numbers.All() {
		c.Add(int64(n))
	}
	c.EndRow()
}
