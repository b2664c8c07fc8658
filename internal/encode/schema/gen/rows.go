package main

import (
	"fmt"
	"strings"

	"github.com/s3window/s3window/internal/encode/schema"
)

// columnType is how a field is put into columns: the type of what has them, how
// that is made (of the column's name and whether it is indexed), and how a value
// is put (of the value, the message, the field that has the columns, and the name
// of the value).
type columnType struct{ goType, make, put string }

// ofRow is for fields of rows: t is the table.
func ofRow(f schema.Field) columnType {
	switch f.Kind {
	case schema.TS:
		return columnType{"*parquet.Int64", "t.Timestamp(%[1]q)", "c.%[3]s.Add(ts)"}
	case schema.Received:
		return columnType{"*parquet.Int64", "t.Timestamp(%[1]q)", "c.%[3]s.Add(received)"}
	case schema.Duration:
		return columnType{"*parquet.Int64", "t.Int64(%[1]q, %[2]t)", "c.%[3]s.Add(r.Duration())"}
	case schema.Nanos:
		return columnType{"*parquet.Int64", "t.Int64(%[1]q, %[2]t)", "c.%[3]s.Add(int64(%[1]s))"}
	case schema.Int32:
		return columnType{"*parquet.Number", "t.Int32(%[1]q, %[2]t)", "c.%[3]s.Add(int64(%[1]s))"}
	case schema.Count, schema.Flags:
		return columnType{"*parquet.Number", "t.Count(%[1]q)", "c.%[3]s.Add(int64(%[1]s))"}
	case schema.Label:
		return columnType{"*parquet.Label", "t.Label(%[1]q, %[2]t)", "c.%[3]s.Add(%[1]s)"}
	case schema.Enum:
		return columnType{"enumColumn", "enumColumn{t.Label(%[1]q, %[2]t), otlp." + f.Names + "()}", "c.scratch = c.%[3]s.put(c.scratch, %[1]s)"}
	case schema.TraceID, schema.SpanID:
		return columnType{"*parquet.ID", "t.ID(%[1]q, %[2]t)", "c.%[3]s.Add(%[1]s)"}
	case schema.Any:
		return columnType{"anyColumn", "newAnyColumn(t, %[1]q)", "if at := c.%[3]s.put(%[1]s); at < 0 {\nreturn at\n}"}
	case schema.Attributes:
		return columnType{"rowAttributes", "", "c.%[3]s.endRow()"}
	case schema.Uint64:
		return columnType{"*parquet.OptionalNumber", "t.OptionalInt64(%[1]q)", "c.%[3]s.Set(int64(%[1]s))"}
	case schema.Double:
		return columnType{"*parquet.OptionalNumber", "t.OptionalDouble(%[1]q)", "c.%[3]s.Set(int64(%[1]s))"}
	case schema.Sint32:
		return columnType{"*parquet.OptionalNumber", "t.OptionalInt32(%[1]q)", "c.%[3]s.Set(int64(%[1]s))"}
	case schema.Number:
		return columnType{"numberColumn", "newNumberColumn(t, %[1]q)", "c.%[3]s.put(%[2]s.Has, %[1]s)"}
	case schema.Uint64s:
		return columnType{"*parquet.NumberList", "t.Int64List(%[1]q)", "putFixed64s(c.%[3]s, %[1]s)"}
	case schema.Varints:
		return columnType{"*parquet.NumberList", "t.Int64List(%[1]q)", "putVarints(c.%[3]s, %[1]s)"}
	case schema.Doubles:
		return columnType{"*parquet.NumberList", "t.DoubleList(%[1]q)", "putFixed64s(c.%[3]s, %[1]s)"}
	case schema.Structs:
		return columnType{lower(f.Of.Name) + "Columns", "", "c.%[3]s.list.EndRow()"}
	}
	return columnType{}
}

// ofElement is for fields of the elements of lists: c.list is the list.
func ofElement(f schema.Field) columnType {
	switch f.Kind {
	case schema.Nanos:
		return columnType{"*parquet.ListInt64", "c.list.Int64(%[1]q)", "c.%[3]s.Add(int64(%[1]s))"}
	case schema.Count, schema.Flags:
		return columnType{"*parquet.ListNumber", "c.list.Count(%[1]q)", "c.%[3]s.Add(int64(%[1]s))"}
	case schema.Label:
		return columnType{"*parquet.ListLabel", "c.list.Label(%[1]q)", "c.%[3]s.Add(%[1]s)"}
	case schema.TraceID, schema.SpanID:
		return columnType{"*parquet.ListID", "c.list.ID(%[1]q)", "c.%[3]s.Add(%[1]s)"}
	case schema.Double:
		return columnType{"*parquet.ListNumber", "c.list.Double(%[1]q)", "c.%[3]s.Add(int64(%[1]s))"}
	case schema.Number:
		return columnType{"listNumberColumn", "newListNumberColumn(c.list, %[1]q)", "c.%[3]s.put(%[2]s.Has, %[1]s)"}
	case schema.Attributes:
		return columnType{"elementAttributes", "newElementAttributes(c.list)", "c.%[3]s.end()"}
	}
	return columnType{}
}

// ofRun is for fields that rows share: set is the set of the columns.
func ofRun(f schema.Field) columnType {
	switch f.Kind {
	case schema.Label:
		return columnType{"*parquet.RunLabel", "set.Label(%[1]q, %[2]t)", "c.%[3]s.Add(%[1]s)"}
	case schema.Count:
		return columnType{"*parquet.RunNumber", "set.Count(%[1]q)", "c.%[3]s.Add(int64(%[1]s))"}
	case schema.Form:
		return columnType{"*parquet.RunLabel", "set.Label(%[1]q, %[2]t)", "c.%[3]s.Add([]byte(otlp.MetricType(m.Kind)))"}
	case schema.Enum:
		return columnType{"*parquet.RunLabel", "set.Label(%[1]q, %[2]t)",
			"var %[3]s []byte\nif m.Has&otlp.Has%[4]s != 0 {\n%[3]s = otlp." + f.Names + "().Append(nil, %[1]s)\n}\nc.%[3]s.Add(%[3]s)"}
	case schema.Bool:
		return columnType{"*parquet.RunBool", "set.OptionalBool(%[1]q)",
			"if m.Has&otlp.Has%[4]s != 0 {\nc.%[3]s.Add(%[1]s)\n} else {\nc.%[3]s.Null()\n}"}
	case schema.Attributes:
		return columnType{"runAttributes", "newRunAttributes(set, %[1]q)", "c.%[3]s.end()"}
	}
	return columnType{}
}

// printRows prints the columns of signals.
func printRows(p *printer) {
	p.header("encode", otlpPath, parquetPath)
	for _, m := range rows() {
		printRow(p, m)
	}
	for _, m := range elements() {
		printElement(p, m)
	}
	for _, m := range []schema.Message{schema.Metric(), schema.Scope(), schema.Resource()} {
		printRun(p, m)
	}
}

// flat are the fields of a row with those of its groups in their places; value
// is where the value of each is.
type flatField struct {
	schema.Field
	of    schema.Message
	value string
	name  string // of the field that has the columns
}

func flat(m schema.Message) (out []flatField) {
	for _, f := range m.Fields {
		switch {
		case f.Kind == schema.MetricFields || f.Kind == schema.Service || f.Kind == schema.Tenant:
			out = append(out, flatField{Field: f, of: m})
		case f.Kind != schema.Group:
			out = append(out, flatField{f, m, "r." + goName(m, f), varName(m, f)})
		default:
			for _, g := range f.Of.Fields {
				g.Forms = f.Forms
				out = append(out, flatField{g, *f.Of, "r." + goName(m, f) + "." + goName(*f.Of, g), camel(g.Name, false)})
			}
		}
	}
	return out
}

func printRow(p *printer, m schema.Message) {
	name := lower(m.Name) + "Columns"
	p.p("// %s are the columns of %s, but for those that they share.\ntype %s struct {", name, m.What, name)
	for _, f := range flat(m) {
		if f.value != "" {
			p.p("%s %s", f.name, ofRow(f.Field).goType)
		}
	}
	p.p("scratch []byte\n}\n")
	metric := ""
	if has(m, schema.MetricFields) {
		metric = ", metric"
	}
	p.p("// add adds the columns to a table, in the order of the schema. The others add\n// those of what rows share, at their places.")
	p.p("func (c *%s) add(t *parquet.Table, service%s func()) {", name, metric)
	for _, f := range flat(m) {
		switch f.Kind {
		case schema.MetricFields:
			p.p("metric()")
		case schema.Service:
			p.p("service()")
		case schema.Tenant:
			p.p("t.Constant(%q)", f.Name)
		case schema.Attributes:
			p.p("c.%s.add(t, %q)", f.name, f.Name)
		case schema.Structs:
			p.p("c.%s.add(t, %q)", f.name, f.Name)
		default:
			p.p("c.%s = %s", f.name, sprintf(ofRow(f.Field).make, f.Name, f.Indexed))
		}
	}
	p.p("}\n")
	printPut(p, m, name)
	printMemory(p, m, name)
	if has(m, schema.Structs) {
		p.p("// Attribute implements otlp.AttributeSink.\nfunc (c *%s) Attribute(kv []byte) int { return c.attributes.Attribute(kv) }\n", name)
		for _, f := range m.Fields {
			if f.Kind == schema.Structs {
				p.p("// %s implements otlp.%s.\nfunc (c *%s) %s(message []byte) int { return c.%s.put(message) }\n", f.Of.Name, sink(m), name, f.Of.Name, varName(m, f))
			}
		}
	}
}

func printPut(p *printer, m schema.Message, name string) {
	p.p("// put adds a row, of which the lists of messages are put already. It returns a\n// fault if a value is malformed.")
	p.p("func (c *%s) put(r *otlp.%s, ts, received int64) int {", name, m.Name)
	// What is only in some forms, and may be absent, is put where it is.
	var own [schema.NumForms][]string
	for _, f := range flat(m) {
		if f.value == "" {
			continue
		}
		put := sprintf(ofRow(f.Field).put, f.value, "r", f.name)
		if !hasForms(m) || inAll(f.Field) || !f.Null || f.Forms == [schema.NumForms]int{} {
			p.p("%s", put)
			continue
		}
		if f.Sent {
			put = fmt.Sprintf("if r.Has&otlp.Has%s != 0 {\n%s\n}", goName(m, f.Field), put)
		}
		for i, n := range f.Forms {
			if n != 0 {
				own[i] = append(own[i], put)
			}
		}
	}
	if hasForms(m) {
		p.p("switch r.Kind {")
		for i, f := range forms() {
			p.p("case %s:\n%s", f.cases("otlp."), strings.Join(own[i], "\n"))
		}
		p.p("}")
	}
	p.p("return 0\n}\n")
}

func printMemory(p *printer, m schema.Message, name string) {
	held, reset := []string{"cap(c.scratch)"}, ""
	for _, f := range flat(m) {
		switch f.Kind {
		case schema.Attributes, schema.Structs, schema.Any:
			held = append(held, "c."+f.name+".held()")
			if f.Kind != schema.Any {
				reset += "c." + f.name + ".reset()\n"
			}
		}
	}
	if name != lower(m.Name)+"Columns" || len(held) == 1 {
		return
	}
	p.p("func (c *%s) held() int { return %s }\n", name, strings.Join(held, " + "))
	p.p("func (c *%s) reset() {\n%s}\n", name, reset)
}

func printElement(p *printer, m schema.Message) {
	name := lower(m.Name) + "Columns"
	p.p("// %s are the columns of a list of %s.\ntype %s struct {\nlist *parquet.List", name, m.What, name)
	for _, f := range m.Fields {
		p.p("%s %s", varName(m, f), ofElement(f).goType)
	}
	p.p("}\n")
	p.p("func (c *%s) add(t *parquet.Table, name string) {\nc.list = t.List(name)", name)
	for _, f := range m.Fields {
		p.p("c.%s = %s", varName(m, f), sprintf(ofElement(f).make, f.Name, f.Indexed))
	}
	p.p("}\n")
	p.p("// put adds a message to the list of the row under construction. It returns a\n// fault if it is malformed.\nfunc (c *%s) put(message []byte) int {\nvar r otlp.%s", name, m.Name)
	if sink(m) == "" {
		p.p("if at := r.Parse(message); at < 0 {\nreturn at\n}")
	} else {
		p.p("if at := r.Parse(message, &c.attributes); at < 0 {\nreturn at\n}")
	}
	for _, f := range m.Fields {
		p.p("%s", sprintf(ofElement(f).put, "r."+goName(m, f), "r", varName(m, f)))
	}
	p.p("c.list.End()\nreturn 0\n}\n")
	held, reset := "0", ""
	if has(m, schema.Attributes) {
		held, reset = "c.attributes.held()", "c.attributes.reset()"
	}
	p.p("func (c *%s) held() int { return %s }\n\nfunc (c *%s) reset() { %s }\n", name, held, name, reset)
}

// printRun prints the columns of what rows share. Fields that are not in the
// message are parameters.
func printRun(p *printer, m schema.Message) {
	name := lower(m.Name) + "Columns"
	p.p("// %s are the columns of %s, which rows share.\ntype %s struct {", name, m.What, name)
	for _, f := range m.Fields {
		p.p("%s %s", varName(m, f), ofRun(f).goType)
	}
	p.p("}\n")
	p.p("func (c *%s) add(set *parquet.RunSet) {", name)
	for _, f := range m.Fields {
		p.p("c.%s = %s", varName(m, f), sprintf(ofRun(f).make, f.Name, f.Indexed))
	}
	p.p("}\n")
	args, puts := "", ""
	for _, f := range m.Fields {
		value := "m." + goName(m, f)
		if f.Kind == schema.Label && f.Wire == 0 {
			value = varName(m, f)
			args += ", " + value + " []byte"
		}
		puts += sprintf(ofRun(f).put, value, "m", varName(m, f), goName(m, f)) + "\n"
	}
	p.p("// put puts an entry, of which the attributes are put already.\nfunc (c *%s) put(m *otlp.%s%s) {\n%s}\n", name, m.Name, args, puts)
}

// sprintf is fmt.Sprintf for formats that do not use all arguments.
func sprintf(format string, args ...any) string {
	s := fmt.Sprintf(format, args...)
	if i := strings.Index(s, "%!(EXTRA"); i >= 0 {
		s = s[:i]
	}
	return s
}
