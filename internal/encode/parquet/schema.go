package parquet

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// schema is the list of schema elements, depth first, behind the root.
type schema struct {
	elements []format.SchemaElement
	fields   int32 // children of the root
}

// root returns all elements, the root first.
func (s *schema) root() []format.SchemaElement {
	return append([]format.SchemaElement{{Name: "schema", NumChildren: thrift.New(s.fields)}}, s.elements...)
}

func repetition(optional bool) thrift.Null[format.FieldRepetitionType] {
	if optional {
		return thrift.New(format.Optional)
	}
	return thrift.New(format.Required)
}

func (s *schema) leaf(name string, typ format.Type, optional bool) *format.SchemaElement {
	s.elements = append(s.elements, format.SchemaElement{
		Name: name, Type: thrift.New(typ), RepetitionType: repetition(optional),
	})
	return &s.elements[len(s.elements)-1]
}

func (s *schema) text(name string, optional bool) {
	e := s.leaf(name, format.ByteArray, optional)
	e.ConvertedType = thrift.New(deprecated.UTF8)
	e.LogicalType.Value = &format.StringType{}
}

// timestamp adds microseconds since the epoch in UTC.
func (s *schema) timestamp(name string) {
	e := s.leaf(name, format.Int64, false)
	e.ConvertedType = thrift.New(deprecated.TimestampMicros)
	e.LogicalType.Value = &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}
}

// textMap adds MAP<string,string>.
func (s *schema) textMap(name string) {
	m := format.SchemaElement{
		Name: name, RepetitionType: thrift.New(format.Required), NumChildren: thrift.New(int32(1)),
		ConvertedType: thrift.New(deprecated.Map),
	}
	m.LogicalType.Value = &format.MapType{}
	s.elements = append(s.elements, m, format.SchemaElement{
		Name: "key_value", RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(int32(2)),
	})
	s.text("key", false)
	s.text("value", false)
}
