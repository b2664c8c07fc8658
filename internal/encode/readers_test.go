package encode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	pq "github.com/parquet-go/parquet-go"

	"github.com/s3window/s3window/testbed/duckdbtest"
)

// A reader is a Parquet implementation that must read every object.
type reader struct {
	name string
	read func(t testing.TB, object []byte) grid
}

func readers(db *duckdbtest.DB) []reader {
	return []reader{
		{"parquet-go", readParquetGo},
		{"arrow-go", readArrow},
		{"duckdb", func(t testing.TB, object []byte) grid { return readDuckDB(t, db, object) }},
	}
}

func readParquetGo(t testing.TB, object []byte) grid {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(object), int64(len(object)))
	if err != nil {
		t.Fatal(err)
	}
	var g grid
	for _, field := range f.Schema().Fields() {
		g.columns = append(g.columns, field.Name())
	}
	for _, rg := range f.RowGroups() {
		rows := rg.Rows()
		buf := make([]pq.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				g.rows = append(g.rows, parquetGoRow(f.Schema(), row))
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func parquetGoRow(schema *pq.Schema, row pq.Row) (cells []string) {
	leaves := map[int][]pq.Value{}
	for _, v := range row {
		leaves[v.Column()] = append(leaves[v.Column()], v)
	}
	at := 0
	for _, f := range schema.Fields() {
		n := leafCount(f)
		var of [][]pq.Value
		for i := range n {
			of = append(of, leaves[at+i])
		}
		cells = append(cells, nestedCell(f, of, 0, 0))
		at += n
	}
	return cells
}

func parquetGoCell(v pq.Value) string {
	switch {
	case v.IsNull():
		return nullCell
	case v.Kind() == pq.ByteArray:
		return string(v.ByteArray())
	case v.Kind() == pq.Double:
		return oracleDouble(v.Double())
	case v.Kind() == pq.Boolean:
		return fmt.Sprint(v.Boolean())
	case v.Kind() == pq.Int32:
		return itoa(int64(v.Int32()))
	}
	return itoa(v.Int64())
}

func readArrow(t testing.TB, object []byte) grid {
	t.Helper()
	f, err := file.NewParquetReader(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	g := grid{rows: make([][]string, table.NumRows())}
	for i := range int(table.NumCols()) {
		c := table.Column(i)
		g.columns = append(g.columns, c.Name())
		row := 0
		for _, chunk := range c.Data().Chunks() {
			for j := range chunk.Len() {
				g.rows[row] = append(g.rows[row], arrowCell(chunk, j))
				row++
			}
		}
	}
	return g
}

func arrowCell(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return nullCell
	}
	switch a := a.(type) {
	case *array.String:
		return a.Value(i)
	case *array.Int64:
		return itoa(a.Value(i))
	case *array.Int32:
		return itoa(int64(a.Value(i)))
	case *array.Timestamp:
		return itoa(int64(a.Value(i)))
	case *array.Float64:
		return oracleDouble(a.Value(i))
	case *array.Boolean:
		return fmt.Sprint(a.Value(i))
	case *array.Map:
		from, to := a.ValueOffsets(i)
		var s strings.Builder
		for j := int(from); j < int(to); j++ {
			s.WriteString(pair(a.Keys().(*array.String).Value(j), a.Items().(*array.String).Value(j)))
		}
		return s.String()
	case *array.List:
		return arrowList(a, i)
	case *array.Struct:
		return arrowStruct(a, i)
	}
	return fmt.Sprintf("unexpected type %T", a)
}

func readDuckDB(t testing.TB, db *duckdbtest.DB, object []byte) grid {
	t.Helper()
	path := duckdbtest.Quote(saved(t, object))
	g := grid{}
	var list []string
	for _, row := range db.Query("DESCRIBE SELECT * FROM read_parquet(" + path + ", hive_partitioning = false)").Rows {
		name := row[0].(string)
		g.columns = append(g.columns, name)
		if strings.HasPrefix(row[1].(string), "TIMESTAMP") {
			name = "epoch_us(" + name + ")"
		}
		list = append(list, name)
	}
	for _, row := range db.Query("SELECT " + strings.Join(list, ", ") + " FROM read_parquet(" + path + ", hive_partitioning = false)").Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, duckCell(v))
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

func duckCell(v any) string {
	switch v := v.(type) {
	case nil:
		return nullCell
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return itoa(int64(v))
		}
		return oracleDouble(v)
	case []any:
		var s strings.Builder
		for _, e := range v {
			s.WriteString(duckElement(e))
		}
		return s.String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// differences says where two grids differ, a few places at most.
func differences(got, want grid) (out []string) {
	if g, w := strings.Join(got.columns, ","), strings.Join(want.columns, ","); g != w {
		return []string{"columns are " + g + ", want " + w}
	}
	if len(got.rows) != len(want.rows) {
		return []string{fmt.Sprintf("%d rows, want %d", len(got.rows), len(want.rows))}
	}
	for i, w := range want.rows {
		for j := range w {
			if got.rows[i][j] != w[j] {
				out = append(out, fmt.Sprintf("row %d, %s: %s, want %s", i, want.columns[j], short(got.rows[i][j]), short(w[j])))
			}
			if len(out) == 5 {
				return out
			}
		}
	}
	return out
}

func short(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("%q… (%d bytes)", s[:200], len(s))
	}
	return fmt.Sprintf("%q", s)
}
