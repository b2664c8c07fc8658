package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/s3window/s3window/internal/encode/schema"
)

// A part of a document stands between two marks, of which the first has its name.
const (
	markBegin = "<!-- generated from internal/encode/schema: %s -->\n"
	markEnd   = "<!-- end of what is generated -->"
)

// document is one that has generated parts; they are made of a signal each, or
// have a name of their own.
type document struct {
	path string
	part func(schema.Signal) string
	more map[string]string
}

func allDocuments() []document {
	return []document{
		{path: "docs/format.md", part: columnTable, more: map[string]string{"resource and scope": sharedTable()}},
		{path: "internal/encode/DESIGN.md", more: map[string]string{"kinds": kindTable()}},
		{path: "docs/queries/athena.md", part: athena().table},
		{path: "docs/queries/trino.md", part: trino().table},
		{path: "docs/queries/clickhouse.md", part: clickhouse().table},
	}
}

// documents returns the documents below root with their parts renewed.
func documents(root string) (files []file, err error) {
	for _, d := range allDocuments() {
		b, err := os.ReadFile(filepath.Join(root, d.path))
		if err != nil {
			return nil, err
		}
		parts := map[string]string{}
		for name, text := range d.more {
			parts[name] = text
		}
		if d.part != nil {
			for _, s := range schema.Signals() {
				parts[string(s.Name)] = d.part(s)
			}
		}
		for name, text := range parts {
			if b, err = renew(b, name, text); err != nil {
				return nil, fmt.Errorf("%s: %w", d.path, err)
			}
		}
		files = append(files, file{d.path, b})
	}
	return files, nil
}

// renew puts text between the marks of a part.
func renew(b []byte, name, text string) ([]byte, error) {
	begin := fmt.Appendf(nil, markBegin, name)
	before, rest, ok := bytes.Cut(b, begin)
	_, after, closed := bytes.Cut(rest, []byte(markEnd))
	if !ok || !closed {
		return nil, fmt.Errorf("it has no part %q", name)
	}
	return bytes.Join([][]byte{before, begin, []byte("\n" + text + "\n" + markEnd), after}, nil), nil
}

// columnTable is the table of a signal's own columns.
func columnTable(s schema.Signal) string {
	var b strings.Builder
	b.WriteString("| column | type | statistics | what |\n|---|---|---|---|\n")
	own := s.Columns()
	for _, c := range own[:len(own)-len(sharedColumns())] {
		writeRow(&b, c)
	}
	return b.String()
}

// sharedTable is the table of the columns that follow in every signal.
func sharedTable() string {
	var b strings.Builder
	b.WriteString("| column | type | statistics | what |\n|---|---|---|---|\n")
	for _, c := range sharedColumns() {
		writeRow(&b, c)
	}
	return b.String()
}

func sharedColumns() []schema.Column {
	return append(schema.Scope().Columns(), schema.Resource().Columns()...)
}

func writeRow(b *strings.Builder, c schema.Column) {
	statistics := ""
	switch {
	case c.Bloom:
		statistics = "bloom filter"
	case c.Indexed:
		statistics = "yes"
	}
	what := c.Doc
	if len(c.Of) > 0 && c.Of[0].Type == schema.TypeStruct {
		var fields []string
		for _, f := range c.Of[0].Of {
			fields = append(fields, fmt.Sprintf("`%s` %s", f.Name, typeText(f)))
		}
		what = strings.TrimPrefix(what+": "+strings.Join(fields, ", "), ": ")
	}
	fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", c.Name, typeText(c), statistics, what)
}

func typeText(c schema.Column) string {
	text := string(c.Type)
	if c.Type == schema.TypeList {
		text += " of " + string(c.Of[0].Type)
	}
	if c.Null {
		text += ", nullable"
	}
	return text
}

// kindTable says how columns of each kind are written.
func kindTable() string {
	var b strings.Builder
	b.WriteString("| kind of field | Parquet | encoding | columns |\n|---|---|---|---|\n")
	for _, k := range schema.Kinds() {
		var names []string
		for _, s := range schema.Signals() {
			for _, m := range append([]schema.Message{s.Row}, s.Around...) {
				names = appendNames(names, m, k)
			}
		}
		p, e := k.Parquet()
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", k, p, e, strings.Join(names, ", "))
	}
	return b.String()
}

// appendNames appends the names of a message's fields of a kind, each once.
func appendNames(names []string, m schema.Message, k schema.Kind) []string {
	for _, f := range m.Fields {
		if f.Of != nil {
			names = appendNames(names, *f.Of, k)
		}
		name := "`" + f.Name + "`"
		if f.Kind != k || f.Name == "" || contains(names, name) {
			continue
		}
		names = append(names, name)
	}
	return names
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
