package encode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	pq "github.com/parquet-go/parquet-go"
)

// The cell of a list is its elements behind each other. An element that is a
// struct is its fields in the order of their names.

func element(cell string) string { return fmt.Sprintf("[%q]", cell) }

func structCell(fields map[string]string) string {
	s := "{"
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		s += fmt.Sprintf("%s=%q ", name, fields[name])
	}
	return s + "}"
}

func leafCount(n pq.Node) int {
	if n.Leaf() {
		return 1
	}
	c := 0
	for _, f := range n.Fields() {
		c += leafCount(f)
	}
	return c
}

// nestedCell assembles the cell of a field from the values of its leaves in
// one row. rep and def are the levels of what surrounds the field.
func nestedCell(f pq.Field, leaves [][]pq.Value, rep, def int) string {
	if f.Leaf() {
		return parquetGoCell(leaves[0][0])
	}
	inner := f.Fields()
	if len(inner) != 1 || !inner[0].Repeated() {
		return parquetGoStruct(f, leaves, rep, def)
	}
	var s strings.Builder
	for _, e := range elements(leaves, rep+1, def+1) {
		fields := inner[0].Fields()
		if len(fields) == 2 && fields[0].Name() == "key" {
			s.WriteString(pair(parquetGoCell(e[0][0]), parquetGoCell(e[1][0])))
		} else {
			s.WriteString(element(nestedCell(fields[0], e, rep+1, def+1)))
		}
	}
	return s.String()
}

func parquetGoStruct(f pq.Field, leaves [][]pq.Value, rep, def int) string {
	fields := map[string]string{}
	for _, c := range f.Fields() {
		n := leafCount(c)
		fields[c.Name()] = nestedCell(c, leaves[:n], rep, def)
		leaves = leaves[n:]
	}
	return structCell(fields)
}

// elements splits the values of leaves at the elements of the list with the
// given levels.
func elements(leaves [][]pq.Value, rep, def int) (out [][][]pq.Value) {
	if leaves[0][0].DefinitionLevel() < def {
		return nil
	}
	for i, leaf := range leaves {
		n := -1
		for j, v := range leaf {
			if j == 0 || v.RepetitionLevel() <= rep {
				if n++; n == len(out) {
					out = append(out, make([][]pq.Value, len(leaves)))
				}
			}
			out[n][i] = append(out[n][i], v)
		}
	}
	return out
}

func arrowList(a *array.List, i int) string {
	from, to := a.ValueOffsets(i)
	var s strings.Builder
	for j := int(from); j < int(to); j++ {
		s.WriteString(element(arrowCell(a.ListValues(), j)))
	}
	return s.String()
}

func arrowStruct(a *array.Struct, i int) string {
	fields := map[string]string{}
	for k, f := range a.DataType().(*arrow.StructType).Fields() {
		fields[f.Name] = arrowCell(a.Field(k), i)
	}
	return structCell(fields)
}

func duckElement(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return element(duckCell(v))
	}
	if k, ok := m["key"]; ok && len(m) == 2 {
		return pair(k.(string), m["value"].(string))
	}
	fields := map[string]string{}
	for name, v := range m {
		fields[name] = duckCell(v)
	}
	return element(structCell(fields))
}
