package source

import (
	"fmt"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	icetable "github.com/apache/iceberg-go/table"

	"github.com/s3window/s3window/icebergsync/internal/table"
)

// maxSchemas bounds how many shapes of files are remembered.
const maxSchemas = 256

// schemas remembers the columns of shapes of files: nearly all files of a lake
// have one of a few.
type schemas struct {
	mu    sync.Mutex // guards known
	known map[string][]table.Column
}

func newSchemas() *schemas { return &schemas{known: map[string][]table.Column{}} }

// of returns the top-level columns of a file. Callers do not change them.
func (s *schemas) of(footer *metadata.FileMetaData) ([]table.Column, error) {
	shape := shapeOf(footer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if is, ok := s.known[shape]; ok {
		return is, nil
	}
	is, err := columnsOf(footer)
	if err != nil {
		return nil, err
	}
	if len(s.known) >= maxSchemas {
		clear(s.known)
	}
	s.known[shape] = is
	return is, nil
}

// shapeOf is the same for files with the same columns.
func shapeOf(footer *metadata.FileMetaData) string {
	var b strings.Builder
	for i := range footer.Schema.NumColumns() {
		c := footer.Schema.Column(i)
		fmt.Fprintf(&b, "%s %v %v %d %d\n", c.Path(), c.PhysicalType(), c.LogicalType(), c.MaxDefinitionLevel(), c.MaxRepetitionLevel())
	}
	return b.String()
}

// columnsOf reads the columns of a footer. All are optional, as they are in
// tables: a file that lacks one reads as null.
func columnsOf(footer *metadata.FileMetaData) ([]table.Column, error) {
	is, err := pqarrow.FromParquet(footer.Schema, nil, nil)
	if err != nil {
		return nil, err
	}
	ice, err := icetable.ArrowSchemaToIcebergWithFreshIDs(arrow.NewSchema(is.Fields(), nil), false)
	if err != nil {
		return nil, err
	}
	out := make([]table.Column, 0, len(ice.Fields()))
	for _, f := range ice.Fields() {
		out = append(out, table.Column{Name: f.Name, Type: optional(f.Type)})
	}
	return out, nil
}

// optional makes every field of a type optional, apart from the keys of maps.
func optional(t iceberg.Type) iceberg.Type {
	switch t := t.(type) {
	case *iceberg.StructType:
		fields := make([]iceberg.NestedField, len(t.FieldList))
		for i, f := range t.FieldList {
			f.Required, f.Type = false, optional(f.Type)
			fields[i] = f
		}
		return &iceberg.StructType{FieldList: fields}
	case *iceberg.ListType:
		return &iceberg.ListType{ElementID: t.ElementID, Element: optional(t.Element)}
	case *iceberg.MapType:
		return &iceberg.MapType{KeyID: t.KeyID, KeyType: t.KeyType, ValueID: t.ValueID, ValueType: optional(t.ValueType)}
	}
	return t
}
