package syncer

import (
	"fmt"

	"github.com/apache/iceberg-go"

	"github.com/s3window/s3window/icebergsync/internal/table"
)

// Columns that the tables rely on.
const (
	TenantColumn   = "tenant_id"
	ReceivedColumn = "received_at"
)

// schema is a table's columns and those that windows add to them.
type schema struct {
	columns map[string]iceberg.Type
	added   []table.Column
}

func schemaOf(columns []table.Column) *schema {
	s := &schema{columns: make(map[string]iceberg.Type, len(columns))}
	for _, c := range columns {
		s.columns[c.Name] = c.Type
	}
	return s
}

// fit holds the columns of a window's objects against the schema. It adds all
// that are new, or returns the first that clashes and adds nothing.
func (s *schema) fit(w window) error {
	fresh := map[string]iceberg.Type{}
	var order []table.Column
	for _, c := range w.contents {
		for _, column := range c.Columns {
			is, known := s.columns[column.Name]
			if !known {
				is, known = fresh[column.Name]
			}
			if !known {
				fresh[column.Name] = column.Type
				order = append(order, column)
				continue
			}
			if !Readable(is, column.Type) {
				return fmt.Errorf("column %q is %s here and %s in the table: a column keeps the type it began with; give one of the two another name", column.Name, column.Type, is)
			}
		}
	}
	for _, c := range order {
		s.columns[c.Name] = c.Type
	}
	s.added = append(s.added, order...)
	return nil
}

// Readable says whether a column of a table can be read from a file where it has
// another type.
func Readable(in, file iceberg.Type) bool {
	switch t := in.(type) {
	case *iceberg.StructType:
		f, ok := file.(*iceberg.StructType)
		return ok && structReadable(t, f)
	case *iceberg.ListType:
		f, ok := file.(*iceberg.ListType)
		return ok && Readable(t.Element, f.Element)
	case *iceberg.MapType:
		f, ok := file.(*iceberg.MapType)
		return ok && Readable(t.KeyType, f.KeyType) && Readable(t.ValueType, f.ValueType)
	}
	switch in.String() + " from " + file.String() {
	case "long from int", "double from float":
		return true
	}
	return in.String() == file.String()
}

// structReadable says whether all fields of the file's struct are in the table's.
func structReadable(in, file *iceberg.StructType) bool {
	for _, f := range file.FieldList {
		found := false
		for _, t := range in.FieldList {
			found = found || t.Name == f.Name && Readable(t.Type, f.Type)
		}
		if !found {
			return false
		}
	}
	return true
}
