package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/s3window/s3window/internal/encode"
)

// dialect is how an engine that cannot be run here names types.
type dialect struct {
	names          map[string]string
	mapping        string
	list, open, as string // array<, struct<, between name and type
	shut, between  string
	quote          string
}

func dialects() map[string]dialect {
	return map[string]dialect{
		"athena": {
			names: map[string]string{
				"timestamp": "timestamp", "int64": "bigint", "int32": "int", "string": "string", "double": "double", "bool": "boolean",
			},
			mapping: "map<string,string>", list: "array<", open: "struct<", as: ":", shut: ">", between: ",", quote: "`",
		},
		"trino": {
			names: map[string]string{
				"timestamp": "timestamp(6)", "int64": "bigint", "int32": "integer", "string": "varchar", "double": "double", "bool": "boolean",
			},
			mapping: "map(varchar, varchar)", list: "array(", open: "row(", as: " ", shut: ")", between: ", ", quote: `"`,
		},
	}
}

func (d dialect) of(c column) string {
	switch c.Type {
	case "map":
		return d.mapping
	case "list":
		return d.list + d.of(c.Of[0]) + d.shut
	case "struct":
		var fields []string
		for _, f := range c.Of {
			fields = append(fields, f.Name+d.as+d.of(f))
		}
		return d.open + strings.Join(fields, d.between) + d.shut
	}
	return d.names[c.Type]
}

// The tables of the pages that nobody can run here have exactly the columns of
// the files, with the default promoted ones.
func TestTablesHaveTheSchema(t *testing.T) {
	root := filepath.Join("..", "..")
	for engine, d := range dialects() {
		page, err := os.ReadFile(filepath.Join(root, "docs", "queries", engine+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range signals() {
			all, err := readSchema(filepath.Join(root, schemaDir), s)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, c := range all[:len(all)-len(columns())+len(encode.DefaultColumns())] {
				want = append(want, d.quote+c.Name+d.quote+" "+d.of(c))
			}
			got := tableColumns(string(page), engine, string(s), d.quote)
			if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
				t.Errorf("%s: table %s has the columns\n%s\nwant\n%s", engine, s, g, w)
			}
		}
	}
}

// tableColumns are the column definitions of a table in a page: its lines that
// begin with a quoted name.
func tableColumns(page, engine, table, quote string) (out []string) {
	block := regexp.MustCompile("(?s)```sql " + engine + "\nCREATE [A-Z ]*TABLE [a-z.]*" + table + ` \(\n(.*?)\n\)`).FindStringSubmatch(page)
	if block == nil {
		return nil
	}
	for _, line := range strings.Split(block[1], "\n") {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, quote) {
			out = append(out, strings.TrimSuffix(line, ","))
		}
	}
	return out
}
